/**
 * Tests docs/tour.md: each stop links to a source file, and that file contains the names that the stop gives.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const docs = join(import.meta.dirname, '../../docs');
const tours = readFileSync(join(docs, 'tour.md'), 'utf8')
  .split(/^## (?=One )/m)
  .slice(1)
  .map((text) => ({ title: text.split('\n', 1)[0] ?? '', stops: text.split(/^\d+\. /m).slice(1) }));

/** Matches a stop: the link to its file, and the names that follow it up to the colon. */
const stopStart = /^\[[^\]]+\]\(([^)]+)\),\s+`#?(\w+)`(?:\s+and\s+`#?(\w+)`)?:/;

describe('docs/tour.md', () => {
  it('follows one write, one pod and one call, each through ten to twelve files', () => {
    assert.deepEqual(
      tours.map(({ title }) => title),
      ['One write', 'One pod', 'One call'],
    );
    for (const { title, stops } of tours) assert.ok(stops.length >= 10 && stops.length <= 12, title);
  });

  for (const { title, stops } of tours)
    for (const [index, stop] of stops.entries())
      it(`${title}, stop ${index + 1}: the file has the names that the page gives`, () => {
        const [, path = '', ...names] = stopStart.exec(stop) ?? assert.fail(`no file and name in: ${stop}`);
        const source = readFileSync(join(docs, path), 'utf8');
        const missing = names.filter((name) => name && !new RegExp(`(?<![\\w.])#?${name}\\b`).test(source));
        assert.deepEqual(missing, []);
      });
});
