import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonLine, type LogEvent, textLine } from '../../../src/terminal/log-line.ts';
import { parseLogLine } from '../../../src/terminal/log-parse.ts';

const at = new Date('2026-01-02T03:04:05.678Z');
const events: readonly LogEvent[] = [
  { at, level: 'info', component: '', message: 'ready', fields: {} },
  {
    at,
    level: 'warn',
    component: 'kubelet/informer',
    message: 'started pod',
    fields: { pod: 'default/web', tries: 3 },
  },
  {
    at,
    level: 'error',
    component: 'api',
    message: 'failed: it broke',
    fields: { error: 'a "b" = c\nd', ok: true },
  },
  { at, level: 'debug', component: 'x.y', message: 'empty', fields: { text: '' } },
];

for (const event of events)
  test(`a line of level ${event.level} is read as the event that was written, in both formats`, () => {
    assert.deepEqual(parseLogLine(textLine(event)), event);
    assert.deepEqual(parseLogLine(jsonLine(event)), event);
  });

test('lines without a time and a level are not events', () => {
  for (const line of ['', '    at main.ts:3', 'minik8s is ready: https://x', '{"level":"info"}', '{broken'])
    assert.equal(parseLogLine(line), undefined, line);
});
