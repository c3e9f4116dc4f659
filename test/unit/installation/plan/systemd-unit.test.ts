import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stopSecondsFor, systemdUnit } from '../../../../src/installation/plan/systemd-unit.ts';

test('the timeout of a stop is longer than the shutdown period of the pods, and at least 90 seconds', () => {
  assert.equal(stopSecondsFor(0), 90);
  assert.equal(stopSecondsFor(60_000), 90);
  assert.equal(stopSecondsFor(600_500), 631);
});

test('a stop sends SIGINT, after which connections are rejected at once; a restart sends SIGTERM, after which they wait', () => {
  const lines = systemdUnit('up', '/usr/local/bin/minik8s', 90).split('\n');
  const service = lines.slice(lines.indexOf('[Service]'), lines.indexOf('[Install]'));
  assert.deepEqual(
    service.filter((line) => /Signal=/.test(line)),
    ['KillSignal=SIGINT', 'RestartKillSignal=SIGTERM'],
  );
});
