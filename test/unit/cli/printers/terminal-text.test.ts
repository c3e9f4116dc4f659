/**
 * Text in objects comes from programs, hosts and strangers: it must not control the terminal of the reader.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { descriptionText } from '../../../../src/cli/describe/describe-object.ts';
import { generic } from '../../../../src/cli/describe/generic.ts';
import { eventRow } from '../../../../src/cli/printers/event-rows.ts';
import { shown, TableWriter } from '../../../../src/cli/printers/table-writer.ts';

const clears = '\u001b[2J\u001b]0;owned\u0007';

const steering: readonly (readonly [text: string, written: string])[] = [
  ['\u009b2J', '\\u009b2J'],
  ['gone\b\b\b\b', 'gone\\u0008\\u0008\\u0008\\u0008'],
  ['a\u007f\0', 'a\\u007f\\u0000'],
  ['\u202elanigiro\u2066', '\\u202elanigiro\\u2066'],
  ['a\rb', 'a\\rb'],
];
for (const [text, written] of steering)
  it(`writes ${written} for a text that would control the terminal, also in the rows of events`, () => {
    assert.equal(shown(text), written);
    assert.equal(eventRow({ message: text, reason: text }, 0).at(-1), written.trim());
  });
it('tabs, newlines and all other text are unchanged', () => {
  const text = 'a\tb\nc Ä 😀 \u00a0';
  assert.equal(shown(text), text);
});

it('a table shows an escape as kubectl does, and its columns have the width of the shown text', () => {
  const text = new TableWriter().format([[clears, 'b']], ['A', 'B']);
  assert.equal(text, `A${' '.repeat(23)}B\n^[[2J^[]0;owned\\u0007   b\n`);
});
it('a description contains no escape character, whichever field had one', () => {
  const condition = { type: 'Built', status: 'False', reason: 'BuildFailed', message: clears };
  const object = {
    ...{ apiVersion: 'v1', kind: 'SlurmJob', metadata: { name: 'a', annotations: { note: clears } } },
    spec: { run: [clears] },
    status: { conditions: [condition], files: [{ path: `x\r${clears}`, size: 1 }] },
  };
  const event = { type: 'Warning', reason: 'Failed', message: clears, lastTimestamp: '2026-01-01T00:00:00Z' };
  const text = descriptionText(generic, object, { related: {}, events: { items: [event] }, now: 0 });
  assert.ok(!text.includes('\u001b') && !text.includes('\r'));
  assert.equal(text.match(/\^\[\[2J/g)?.length, 5);
});
