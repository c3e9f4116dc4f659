/** JSON texts with several values: where each begins, and where it ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonParts } from '../../../../src/cli/manifests/json-stream.ts';

const textsOf = (text: string) => jsonParts(text, 1).map((part) => part.text);

test('objects and lists are split where their own bracket closes', () => {
  assert.deepEqual(textsOf('{"a":[{"b":1}]}[2,[3]] {"c":{}}'), ['{"a":[{"b":1}]}', '[2,[3]]', '{"c":{}}']);
});

test('brackets inside strings do not close a value', () => {
  const tricky = String.raw`{"a":"}]\"}","b":"[{"}`;
  assert.deepEqual(textsOf(`${tricky}{}`), [tricky, '{}']);
});

test('each part has the line and the index at which it starts', () => {
  const parts = jsonParts('\n{\n"a": 1\n}\n\n[\n]', 10);
  assert.deepEqual(
    parts.map(({ line, start }) => ({ line, start })),
    [
      { line: 11, start: 1 },
      { line: 15, start: 13 },
    ],
  );
});

test('an unclosed part and a part that is neither object nor list extend to the end of the text', () => {
  assert.deepEqual(textsOf('{"a":1} {"b": {'), ['{"a":1}', '{"b": {']);
  assert.deepEqual(textsOf('{"open": "text} {}'), ['{"open": "text} {}']);
  assert.deepEqual(textsOf('{} word {}'), ['{}', 'word {}']);
});

test('a text of white space has no part', () => {
  assert.deepEqual(jsonParts(' \n\t', 1), []);
});
