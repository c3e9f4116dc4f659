/** Settings of this machine as the doctor reads them: from flags, from a file, and without a damaged file. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import { systemExec } from '../../../src/os/exec.ts';
import { readOwnMachine } from '../../../src/roles/doctor/own-settings.ts';

describe('the situation of this machine', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'minik8s-doctor-'));
  const file = join(dataDir, 'master.yaml');
  after(() => rmSync(dataDir, { recursive: true }));
  afterEach(() => rmSync(file, { force: true }));
  const read = (flags: Readonly<Record<string, string>>) =>
    readOwnMachine({ 'data-dir': dataDir, ...flags }, systemExec, 7);

  it('follows from the configuration file, whose other keys are not read', async () => {
    writeFileSync(file, 'port: 7443\nkubelet-port: 7250\nname: vm7\nunknown-key: 1\n');
    const { situation, nodeName, problem } = await read({ config: file });
    assert.deepEqual([situation.port, situation.kubeletPort, situation.now], [7443, 7250, 7]);
    assert.deepEqual([situation.pid, nodeName, problem], [undefined, undefined, undefined]);
    assert.deepEqual([situation.dataDir, situation.clusterDNS], [dataDir, '10.96.0.10']);
  });

  it('has defaults in place of a file that is damaged, and its fault', async () => {
    for (const [text, expected] of [
      ['port: [\n', /master\.yaml: not YAML: /],
      ['port: many\n', /master\.yaml: line 1: port: "many": /],
    ] as const) {
      writeFileSync(file, text);
      const { situation, problem } = await read({ config: file });
      assert.equal(situation.port, 6443);
      assert.match(problem ?? '', expected);
    }
  });

  it('cannot follow from a wrong flag', () =>
    assert.rejects(read({ 'data-dir': '' }), { name: 'UsageError', message: /^--data-dir: / }));
});
