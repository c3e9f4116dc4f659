import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../../src/base/consola-logger.ts';

test('a line says when, how grave, who, what, and with which data', () => {
  const lines: string[] = [];
  const log = createLogger('info', (line) => lines.push(line));
  log.debug('not at this level');
  log.info('starting');
  log
    .named('kubelet')
    .named('probe')
    .warn('probe\nfailed', {
      pod: 'default/web',
      error: new Error('refused', { cause: new Error('no route') }),
      attempt: 3,
      empty: '',
      absent: undefined,
      labels: { a: 'b' },
    });
  log.error('gone');
  log.error('gone');
  assert.deepEqual(
    lines.map((line) => line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, '')),
    [
      'INFO  starting\n',
      'WARN  kubelet/probe: probe failed pod=default/web error="refused: no route" attempt=3 empty="" labels="{\\"a\\":\\"b\\"}"\n',
      'ERROR gone\n',
      'ERROR gone\n',
    ],
  );
});
