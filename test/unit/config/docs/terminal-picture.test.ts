import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { recordedIn, terminalPicture } from '../../../../config/docs/terminal-picture.ts';

const recorded = [
  { command: 'ctl get pods -o name', output: ['pod/a', '', '  <none> & "b"'] },
  { command: 'true', output: [] },
];

test('a picture of a terminal contains its commands and lines, and they can be read back', () => {
  assert.deepEqual(recordedIn(terminalPicture('a > b', recorded)), recorded);
});

test('a picture has a title for screen readers, and no motion for readers who prefer reduced motion', () => {
  const picture = terminalPicture('a > b', recorded);
  assert.match(picture, /role="img" aria-labelledby="title">\n<title id="title">a &gt; b<\/title>/);
  assert.match(picture, /@media \(prefers-reduced-motion:reduce\)\{\.l\{animation:none\}\}/);
});

test('each line appears after the previous line', () => {
  const delays = [...terminalPicture('', recorded).matchAll(/animation-delay:([\d.]+)s/g)].map(([, one]) =>
    Number(one),
  );
  assert.equal(delays.length, 5);
  assert.deepEqual(
    delays,
    delays.toSorted((a, b) => a - b),
  );
});

test('the picture in the README is at most 16 KiB', () => {
  const file = join(import.meta.dirname, '../../../../docs/pictures/terminal.svg');
  assert.ok(readFileSync(file).length <= 16 * 1024);
});
