// drawing.js -- what Chart.js does not draw itself: intervals, known accuracies as lines, names beside points.

// The 95% interval of points that have low and high, along the axis that is named.
const intervals = {
  id: 'intervals',
  beforeDatasetsDraw(chart, args, options) {
    if (!options.axis) return;
    const context = chart.ctx;
    chart.data.datasets.forEach((dataset, index) => {
      const meta = chart.getDatasetMeta(index);
      if (meta.hidden) return;
      dataset.data.forEach((point, i) => {
        if (point.low === undefined || point.low === null) return;
        const {x, y} = meta.data[i];
        const scale = chart.scales[options.axis];
        const [a, b] = [scale.getPixelForValue(point.low), scale.getPixelForValue(point.high)];
        context.save();
        context.strokeStyle = point.color || dataset.borderColor;
        context.lineWidth = options.width || 1.5;
        context.globalAlpha = options.alpha || 0.75;
        context.beginPath();
        if (options.axis === 'x') {
          context.moveTo(a, y);
          context.lineTo(b, y);
        } else {
          context.moveTo(x, a);
          context.lineTo(x, b);
        }
        context.stroke();
        context.restore();
      });
    });
  },
};

// Dashed lines across the chart with a name each; names that would overlap move on.
const references = {
  id: 'references',
  afterDatasetsDraw(chart, args, options) {
    if (!options.lines || !options.lines.length) return;
    const {ctx: context, chartArea: area} = chart;
    const scale = chart.scales[options.axis];
    const taken = [];
    chart.$labels = [];
    context.save();
    context.font = '12px system-ui, sans-serif';
    for (const line of options.lines) {
      const at = scale.getPixelForValue(line.accuracy);
      const label = `${line.name} ${line.accuracy.toFixed(1)}`;
      const width = context.measureText(label).width;
      context.setLineDash([5, 4]);
      context.strokeStyle = css('--muted');
      context.beginPath();
      if (options.axis === 'x') {
        context.moveTo(at, area.top);
        context.lineTo(at, area.bottom);
      } else {
        context.moveTo(area.left, at);
        context.lineTo(area.right, at);
      }
      context.stroke();
      const across = options.axis === 'x';
      let x = across ? at - width / 2 : options.side === 'left' ? area.left + 4 : area.right - width - 4;
      x = Math.max(area.left, Math.min(x, area.right - width));
      let y = across ? area.top - 9 : at - 8;
      while (taken.some(t => Math.abs(t.y - y) < 14 && t.x < x + width && x < t.x + t.width)) y += across ? -15 : 15;
      taken.push({x, y, width});
      chart.$labels.push({left: x, right: x + width, top: y - 7, bottom: y + 7});
      context.fillStyle = css('--card');
      context.globalAlpha = 0.85;
      context.fillRect(x - 2, y - 7, width + 4, 14);
      context.globalAlpha = 1;
      context.fillStyle = css('--muted');
      context.textBaseline = 'middle';
      context.fillText(label, x, y);
    }
    context.restore();
  },
};

// The name of every point that has one beside it, at the first of some places where it covers nothing.
const names = {
  id: 'names',
  afterDatasetsDraw(chart) {
    const {ctx: context, chartArea: area} = chart;
    context.save();
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const points = chart.data.datasets.flatMap((dataset, index) =>
      chart.getDatasetMeta(index).hidden ? [] : chart.getDatasetMeta(index).data.map((element, i) =>
        ({...dataset.data[i], x: element.x, y: element.y})));
    const boxes = points.map(p => ({left: p.x - 6, right: p.x + 6, top: p.y - 6, bottom: p.y + 6}));
    const pixel = value => chart.scales.y.getPixelForValue(value);
    for (const p of points.filter(p => typeof p.low === 'number'))
      boxes.push({left: p.x - 1, right: p.x + 1, top: pixel(p.high), bottom: pixel(p.low)});
    boxes.push(...chart.$labels || []);
    const free = box => box.left >= area.left && box.right <= area.right && box.top >= area.top - 8 &&
      box.bottom <= area.bottom + 8 &&
      boxes.every(o => box.right < o.left || o.right < box.left || box.bottom < o.top || o.bottom < box.top);
    for (const point of points.filter(p => p.name)) {
      const width = context.measureText(point.name).width;
      const places = [];
      for (const far of [0, 14, 28, 42, 56]) {
        for (const [side, up] of [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [1, 1], [-1, -1], [-1, 1]]) {
          const x = point.x + side * (10 + far / 3) - (side < 0 ? width : side === 0 ? width / 2 : 0);
          const y = point.y + up * (13 + far) + (up === 0 && far ? (far % 28 ? far : -far) : 0);
          places.push({left: x, right: x + width, top: y - 7, bottom: y + 7, far: far + 20 * Math.abs(up)});
        }
      }
      const box = places.find(free) || places[0];
      boxes.push(box);
      const middle = (box.top + box.bottom) / 2;
      if (box.far > 20) { // far away: a thin line leads to the point
        context.strokeStyle = css('--muted');
        context.lineWidth = 0.5;
        context.beginPath();
        context.moveTo(point.x, point.y);
        context.lineTo(Math.max(box.left, Math.min(point.x, box.right)), middle);
        context.stroke();
      }
      context.fillStyle = css('--ink');
      context.fillText(point.name, box.left, middle);
    }
    context.restore();
  },
};
