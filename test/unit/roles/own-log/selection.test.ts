import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lines } from '../../../../src/roles/own-log/lines.ts';
import { LineSelector, type Selection } from '../../../../src/roles/own-log/selection.ts';

const log = [
  'minik8s is ready',
  '2026-01-02T03:00:00.000Z INFO  kubelet: started pod=default/a',
  '2026-01-02T03:00:01.000Z ERROR kubelet/images: failed',
  '    at somewhere',
  '2026-01-02T03:00:02.000Z WARN  apiserver: slow',
  '2026-01-02T03:00:03.000Z INFO  kubelet-like: other',
];
const all: Selection = { components: [], level: 'debug', format: 'text' };
const chosen = (selection: Partial<Selection>, lines = log) => {
  const selector = new LineSelector({ ...all, ...selection });
  return lines.flatMap((line) => selector.take(line) ?? []);
};

test('every line is printed unchanged without a selection', () => {
  assert.deepEqual(chosen({}), log);
});

test('a component is selected with its subcomponents, and with the continuation lines of its messages', () => {
  assert.deepEqual(chosen({ components: ['kubelet'] }), log.slice(1, 4));
  assert.deepEqual(chosen({ components: ['kubelet/images', 'apiserver'] }), log.slice(2, 5));
});

test('a level selects also the more severe lines, and a time selects the later lines', () => {
  assert.deepEqual(chosen({ level: 'warn' }), log.slice(2, 5));
  assert.deepEqual(chosen({ since: Date.parse('2026-01-02T03:00:02Z') }), log.slice(4));
});

test('each line is printed in the selected format, whether it was logged as JSON or as text', () => {
  const objects = chosen({ format: 'json' }).map((line) => JSON.parse(line));
  assert.deepEqual(objects[0], { msg: 'minik8s is ready' });
  assert.deepEqual(objects[1], {
    ...{ ts: '2026-01-02T03:00:00.000Z', level: 'info', component: 'kubelet', msg: 'started' },
    pod: 'default/a',
  });
  const json = '{"ts":"2026-01-02T03:00:00.000Z","level":"info","msg":"a","n":1}';
  assert.deepEqual(chosen({}, [json]), ['2026-01-02T03:00:00.000Z INFO  a n=1']);
});

test('lines are split at line breaks, wherever the input is cut, and endless lines at a maximum length', () => {
  const lines = new Lines();
  const bytes = Buffer.from('ä\nbc\n\nd');
  const found = [...bytes].flatMap((byte) => lines.add(Buffer.from([byte])));
  assert.deepEqual([...found, ...lines.end()], ['ä', 'bc', '', 'd']);
  const endless = lines.add(Buffer.alloc(3 * 2 ** 20, 'x'));
  assert.equal(endless.join('').length, 3 * 2 ** 20);
  assert.deepEqual(lines.end(), []);
});
