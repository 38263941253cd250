// charts.js -- one function a kind of chart; at the end they are made, and made again when the theme changes.

const {boards, lengths} = JSON.parse(document.getElementById('data').textContent);

// Of the known accuracies above every model the next one is enough: the others would squeeze what was measured.
for (const task of boards.flatMap(board => board.tasks)) {
  const best = Math.max(...task.cells.flatMap(cell => cell.seeds.map(seed => seed.accuracy)));
  const next = Math.min(...task.references.map(r => r.accuracy).filter(accuracy => accuracy > best));
  task.references = task.references.filter(r => r.accuracy <= Math.max(best, next));
}

const axis = (title, more = {}) => ({
  title: {display: true, text: title, color: css('--muted')},
  grid: {color: css('--grid'), borderColor: css('--line')},
  ...more,
  ticks: {color: css('--muted'), maxRotation: 0, ...more.ticks},
});

const base = () => ({
  responsive: true,
  maintainAspectRatio: false,
  animation: false,
  plugins: {legend: {display: false}, tooltip: {boxPadding: 4, usePointStyle: true}},
});

const legend = (more = {}) => ({display: true, position: 'bottom', ...more,
  labels: {color: css('--ink'), usePointStyle: true, boxWidth: 8, boxHeight: 8, padding: 14, ...more.labels}});

const known = cells => cells.filter(cell => cell.mean !== null);

// Room for the known accuracies of the task as well.
function accuracyRange(task) {
  const values = task.references.map(r => r.accuracy);
  return values.length ? {suggestedMin: Math.min(...values) - 0.5, suggestedMax: Math.max(...values) + 0.5} : {};
}

// Rows from top to bottom; every seed, the mean with its interval, the paper's figure.
function dots(board, task, canvas) {
  const cells = known(task.cells);
  canvas.parentElement.style.height = `${cells.length * 36 + 100 + 18 * task.references.length}px`;
  const styles = cells.map(cell => styleOf(board, cell.row));
  const ink = css('--muted');
  const seeds = cells.flatMap((cell, y) => cell.seeds.map(s => ({x: s.accuracy, y, text: `seed ${s.seed}`})));
  const means = cells.map((cell, y) => ({x: cell.mean, y, low: cell.low, high: cell.high, color: styles[y].color,
    text: cell.low === null ? 'mean' : `mean, 95% ${cell.low.toFixed(2)} to ${cell.high.toFixed(2)}`}));
  // A figure of the paper that is far from ours becomes an arrow at the edge: it must not squeeze the rest.
  const ours = [...seeds.map(point => point.x), ...task.references.map(r => r.accuracy)];
  const span = Math.max(1, Math.max(...ours) - Math.min(...ours));
  const [left, right] = [Math.min(...ours) - 0.7 * span, Math.max(...ours) + 0.7 * span];
  const paper = [], beyond = [];
  cells.forEach((cell, y) => {
    if (cell.paper === null) return;
    const x = Math.min(Math.max(cell.paper, left), right);
    const point = {x, y, text: 'paper', value: cell.paper};
    if (x === cell.paper) paper.push(point);
    else beyond.push({...point, name: cell.paper.toFixed(1), turn: x < cell.paper ? 90 : -90});
  });
  const options = base();
  options.scales = {
    x: axis('test accuracy, %', {grace: '4%', ...accuracyRange(task)}),
    y: axis('', {min: -0.6, max: cells.length - 0.4, reverse: true, title: {display: false},
      ticks: {stepSize: 1, autoSkip: false, color: css('--ink'), font: {size: 13},
        callback: value => cells[value] ? board.rows[cells[value].row] : ''},
      afterBuildTicks: scale => { scale.ticks = cells.map((cell, value) => ({value})); }}),
  };
  options.plugins.legend = legend();
  options.plugins.intervals = {axis: 'x', width: 4, alpha: 0.45};
  options.plugins.references = {axis: 'x', lines: task.references};
  options.layout = {padding: {top: 18 * task.references.length}};
  options.plugins.tooltip.callbacks = {
    label: item => `${board.rows[cells[item.raw.y].row]}: ${(item.raw.value || item.raw.x).toFixed(2)} (${item.raw.text})`};
  const colors = styles.map(style => style.color);
  return {type: 'scatter', options, plugins: [intervals, references, names], data: {datasets: [
    {label: 'mean, 95% interval', data: means, pointRadius: 6, pointStyle: 'circle', backgroundColor: colors,
      borderColor: colors},
    {label: 'seed', data: seeds, pointRadius: 4, pointStyle: 'circle', borderColor: ink, backgroundColor: 'transparent'},
    ...!paper.length ? [] : [{label: 'paper', data: paper, pointRadius: 6, pointStyle: 'rectRot', borderColor: ink, borderWidth: 1.5,
      backgroundColor: css('--card')}],
    ...beyond.length ? [{label: 'paper, off the scale', data: beyond, pointRadius: 6, pointStyle: 'triangle',
      pointRotation: beyond.map(point => point.turn), borderColor: ink, borderWidth: 1.5,
      backgroundColor: css('--card')}] : [],
  ]}};
}

// A line with a band a row. The two choices above the chart are kept in the canvas.
function curves(board, task, canvas) {
  const x = canvas.dataset.x || 'steps';
  const {y} = canvas.dataset;
  const datasets = [];
  for (const cell of task.cells) {
    const band = cell.curves[x][y];
    if (!band.x.length) continue;
    const style = styleOf(board, cell.row);
    const name = board.rows[cell.row];
    const points = values => band.x.map((at, i) => ({x: at, y: values[i]}));
    const edge = {borderWidth: 0, pointRadius: 0, pointHitRadius: 0, isBand: true};
    const first = datasets.length;
    datasets.push({label: name, data: points(band.mean), borderColor: style.color, borderDash: style.dash,
      borderWidth: 2, pointStyle: style.marker, pointRadius: c => c.dataIndex % (c.chart.width < 480 ? 10 : 6) === 3 ? 4 : 0,
      pointBackgroundColor: style.color, backgroundColor: style.color});
    datasets.push({...edge, label: name, data: points(band.low), fill: false});
    datasets.push({...edge, label: name, data: points(band.high), fill: first + 1,
      backgroundColor: faded(style.color, 0.11)});
  }
  const options = base();
  options.interaction = {mode: 'nearest', axis: 'xy', intersect: false};
  options.scales = {
    x: axis(x === 'steps' ? 'training steps' : 'training time',
      {type: 'linear', ticks: {callback: value => x === 'steps' ? short(value) : shortTime(value)}}),
    y: axis(y === 'accuracy' ? 'validation accuracy, %' : 'validation loss', y === 'accuracy' ? accuracyRange(task) : {}),
  };
  options.plugins.legend = legend({
    labels: {filter: (item, data) => !data.datasets[item.datasetIndex].isBand},
    // A line goes and comes with its band.
    onClick: (event, item, {chart}) => {
      for (let at = item.datasetIndex; at < item.datasetIndex + 3; ++at)
        chart.setDatasetVisibility(at, !chart.isDatasetVisible(at));
      chart.update();
    },
  });
  if (y === 'accuracy') options.plugins.references = {axis: 'y', side: 'left', lines: task.references};
  options.plugins.tooltip.filter = item => !item.dataset.isBand;
  options.plugins.tooltip.callbacks = {
    title: items => items.length ? (x === 'steps' ? `step ${Math.round(items[0].parsed.x)}` : shortTime(items[0].parsed.x)) : '',
    label: item => `${item.dataset.label}: ${item.parsed.y.toFixed(y === 'accuracy' ? 2 : 4)}`};
  return {type: 'line', options, plugins: [references], data: {datasets}};
}

// Accuracy over a cost of the cells; `format` writes the cost.
function scatter(board, task, field, title, format) {
  const datasets = known(task.cells).filter(cell => cell[field] !== null).map(cell => {
    const style = styleOf(board, cell.row);
    return {label: board.rows[cell.row], pointStyle: style.marker, pointRadius: 6, borderColor: style.color,
      backgroundColor: style.color, borderWidth: 2,
      data: [{x: cell[field], y: cell.mean, low: cell.low, high: cell.high, name: board.rows[cell.row]}]};
  });
  const options = base();
  const values = datasets.map(d => d.data[0].x);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  // At least a fifth of the value from side to side: what is nearly equal should look so.
  const room = Math.max((high - low) * 0.12, (high * 0.2 - (high - low)) / 2) || 1;
  options.scales = {
    x: axis(title, {min: Math.max(0, low - room), max: high + room,
      ticks: {maxTicksLimit: 6, includeBounds: false, callback: format}}),
    y: axis('test accuracy, %', {grace: '12%', ...accuracyRange(task)}),
  };
  options.plugins.intervals = {axis: 'y'};
  options.plugins.references = {axis: 'y', lines: task.references};
  options.plugins.tooltip.callbacks = {
    label: item => `${item.raw.name}: ${item.raw.y.toFixed(2)} at ${format(item.raw.x)}`};
  return {type: 'scatter', options, plugins: [intervals, references, names], data: {datasets}};
}

// A bar a row and task, from left to right.
function bars(board, field, title, canvas) {
  const tasks = board.tasks.filter(task => task.cells.some(cell => cell[field] !== null));
  canvas.parentElement.style.height = `${board.rows.length * (12 + 13 * tasks.length) + 110}px`;
  const colors = PALETTES[darkQuery.matches ? 'dark' : 'light'];
  const datasets = tasks.map((task, i) => ({
    label: task.title,
    data: board.rows.map((row, at) => (task.cells.find(cell => cell.row === at) || {[field]: null})[field]),
    backgroundColor: colors[[4, 2, 3, 0, 1][i % 5]],
    borderRadius: 3, barPercentage: 0.9, categoryPercentage: 0.8,
  }));
  const options = base();
  options.indexAxis = 'y';
  options.scales = {
    x: axis(title, {beginAtZero: true, ticks: {maxTicksLimit: 6, callback: short}}),
    y: axis('', {title: {display: false}, grid: {display: false}, ticks: {autoSkip: false, color: css('--ink')}}),
  };
  options.plugins.legend = legend({labels: {pointStyle: 'rect'}});
  options.plugins.tooltip.callbacks = {label: item => `${item.dataset.label}: ${short(item.raw)} ${title.replace(/.*, /, '')}`};
  return {type: 'bar', options, data: {labels: board.rows, datasets}};
}

// A line a mixer over the tokens of a sequence, both axes by powers.
function overLength(field, title, canvas) {
  const mode = lengths[canvas.dataset.task];
  const datasets = mode.mixers.map((mixer, i) => {
    const style = styleOf({against: mode.softmax}, i);
    return {label: mixer.name, data: mixer.points.filter(p => p[field] > 0).map(p => ({x: p.x, y: p[field]})),
      borderColor: style.color, borderDash: style.dash, borderWidth: 2, pointStyle: style.marker, pointRadius: 3,
      pointBackgroundColor: style.color, backgroundColor: style.color};
  }).filter(dataset => dataset.data.length);
  const measured = [...new Set(datasets.flatMap(dataset => dataset.data.map(point => point.x)))].sort((a, b) => a - b);
  const every = Math.ceil(measured.length / (canvas.parentElement.clientWidth < 480 ? 5 : 9));
  const values = datasets.flatMap(dataset => dataset.data.map(point => point.y));
  const tens = [];
  for (let power = Math.floor(Math.log10(Math.min(...values))); power <= Math.log10(Math.max(...values)); ++power)
    tens.push(...[1, 2, 5].map(digit => digit * 10 ** power));
  const options = base();
  options.interaction = {mode: 'nearest', axis: 'xy', intersect: false};
  options.scales = {
    x: axis('tokens of a sequence', {type: 'logarithmic', ticks: {callback: value => value < 1024 ? value : `${value / 1024} Ki`},
      afterBuildTicks: scale => { scale.ticks = measured.filter((value, i) => i % every === 0).map(value => ({value})); }}),
    y: axis(title, {type: 'logarithmic', ticks: {callback: short},
      afterBuildTicks: scale => { scale.ticks = tens.filter(v => v >= scale.min && v <= scale.max).map(value => ({value})); }}),
  };
  options.plugins.legend = legend();
  options.plugins.tooltip.callbacks = {
    title: items => items.length ? `${items[0].parsed.x.toLocaleString('en')} tokens` : '',
    label: item => `${item.dataset.label}: ${short(item.parsed.y)} ${title.replace(/.*, /, '')}`};
  return {type: 'line', options, data: {datasets}};
}

const makers = {
  dots, curves,
  time: (board, task) => scatter(board, task, 'seconds', 'training time of a run', shortTime),
  size: (board, task) => scatter(board, task, 'parameters', 'parameters', short),
  speed: (board, task, canvas) => bars(board, 'tokens_per_s', 'training speed, tokens/s', canvas),
  memory: (board, task, canvas) => bars(board, 'peak_mb', 'peak memory, MB', canvas),
  pace: (board, task, canvas) => overLength('time', 'time a token, microseconds', canvas),
  room: (board, task, canvas) => overLength('memory', 'peak memory, MB', canvas),
};

// A chart that nothing was measured for is not shown.
function draw(canvas) {
  const board = boards[canvas.dataset.board];
  const old = Chart.getChart(canvas);
  if (old) old.destroy();
  const chart = makers[canvas.dataset.chart](board, board && board.tasks[canvas.dataset.task], canvas);
  const empty = chart.data.datasets.every(dataset => dataset.data.length === 0);
  canvas.closest('figure').hidden = empty;
  if (!empty) new Chart(canvas, chart);
}

// Two switches above a chart of learning curves, with what was measured.
function addChoices(canvas) {
  const {cells} = boards[canvas.dataset.board].tasks[canvas.dataset.task];
  const has = (x, y) => cells.some(cell => cell.curves[x][y].x.length);
  const ys = ['accuracy', 'loss'].filter(y => has('steps', y));
  const xs = ['steps', 'seconds'].filter(x => has(x, ys[0] || 'accuracy'));
  canvas.dataset.y = ys[0] || 'accuracy';
  const bar = document.createElement('div');
  bar.className = 'choices';
  for (const [name, values] of [['y', ys], ['x', xs]]) {
    if (values.length < 2) continue;
    const group = document.createElement('div');
    for (const value of values) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = value === 'seconds' ? 'over time' : value === 'steps' ? 'over steps' : value;
      button.setAttribute('aria-pressed', value === values[0]);
      button.addEventListener('click', () => {
        canvas.dataset[name] = value;
        for (const other of group.children) other.setAttribute('aria-pressed', other === button);
        draw(canvas);
      });
      group.append(button);
    }
    bar.append(group);
  }
  canvas.parentElement.before(bar);
}

Chart.defaults.font.family = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
Chart.defaults.font.size = 12;
const canvases = [...document.querySelectorAll('canvas[data-chart]')];
canvases.filter(canvas => canvas.dataset.chart === 'curves').forEach(addChoices);
canvases.forEach(draw);
darkQuery.addEventListener('change', () => canvases.forEach(draw));
// Read by the test with a browser.
document.documentElement.dataset.charts = canvases.length;

// A link to a run opens the list that the run is in.
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const list = target && target.closest('details');
  if (!list) return;
  list.open = true;
  target.scrollIntoView({block: 'center'});
}
window.addEventListener('hashchange', openTarget);
openTarget();
