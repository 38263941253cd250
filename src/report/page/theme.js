// theme.js -- colours and formats. Every row has a colour, a dash and a marker of its own, so that no two rows
// differ by colour alone; the row that the others are tested against is drawn in ink.
'use strict';

// Paul Tol's "muted" scheme, made for colour-blind readers; darker or lighter by the background.
const PALETTES = {
  light: ['#cc4c66', '#332288', '#b08a00', '#117733', '#2f8fc4', '#882255', '#2a9485', '#6f6f14', '#aa4499'],
  dark: ['#f0899b', '#9d97f5', '#e3cc6a', '#55c878', '#86ccf0', '#e070ad', '#5fd3c1', '#c3c35c', '#d98fd0'],
};
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
const MARKERS = ['circle', 'rect', 'triangle', 'rectRot', 'star', 'crossRot', 'rectRounded', 'cross'];

const darkQuery = window.matchMedia('(prefers-color-scheme: dark)');

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// How a row looks: {color, dash, marker}.
function styleOf(board, row) {
  if (row === board.against) return {color: css('--ink'), dash: [], marker: 'circle'};
  const place = row > board.against ? row - 1 : row;
  const colors = PALETTES[darkQuery.matches ? 'dark' : 'light'];
  const turn = Math.floor(place / colors.length);
  return {
    color: colors[place % colors.length],
    dash: DASHES[(place + turn) % DASHES.length],
    marker: MARKERS[(place + turn) % MARKERS.length],
  };
}

function faded(color, alpha) {
  const value = parseInt(color.slice(1), 16);
  return `rgba(${value >> 16}, ${value >> 8 & 255}, ${value & 255}, ${alpha})`;
}

// 45,000 as "45 k".
function short(value) {
  const units = ['', ' k', ' M', ' G', ' T'];
  let unit = 0;
  while (Math.abs(value) >= 1000 && unit + 1 < units.length) {
    value /= 1000;
    ++unit;
  }
  return Number(value.toPrecision(3)) + units[unit];
}

function shortTime(seconds) {
  if (seconds < 600) return `${Number(seconds.toPrecision(3))} s`;
  if (seconds < 7200) return `${Number((seconds / 60).toPrecision(3))} min`;
  return `${Number((seconds / 3600).toPrecision(3))} h`;
}
