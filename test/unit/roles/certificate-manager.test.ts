import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { replaceable } from '../../../src/base/current.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { openCredentials } from '../../../src/pki/credentials.ts';
import { CertificateManager } from '../../../src/roles/certificate-manager.ts';
import { writeAdminKubeconfig } from '../../../src/roles/master/admin-kubeconfig.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const day = 24 * 3600 * 1000;
const directory = mkdtempSync(join(tmpdir(), 'minik8s-certificates-'));
after(() => rmSync(directory, { recursive: true }));

/** Runs the event loop until `ready` returns true: keys and files take many turns on a busy machine. */
async function rest(clock: FakeClock, ready: () => boolean): Promise<void> {
  const latest = performance.now() + 30_000;
  while (!ready() && performance.now() < latest) await clock.settle();
  assert.ok(ready());
}

test('certificates are renewed while the process runs, in the server, in their files and in the kubeconfig', async () => {
  const clock = new FakeClock();
  const credentials = await openCredentials(join(directory, 'pki'), () => clock.now());
  const certificateManager = new CertificateManager(credentials);
  const serving = await certificateManager.leaf({
    file: 'server',
    commonName: 'server',
    hosts: ['127.0.0.1'],
    usages: ['server'],
  });
  const { path } = await writeAdminKubeconfig({
    settings: { 'data-dir': directory },
    certificateManager,
    authority: replaceable(credentials.authority.certificate),
    server: 'https://127.0.0.1:6443',
    log: silentLogger,
  });
  const [first, file] = [serving.value, readFileSync(path, 'utf8')];
  const stop = new AbortController();
  const running = certificateManager.run({ clock, log: silentLogger }, stop.signal);
  const looked = () => rest(clock, () => clock.pending === 1);
  for (let days = 0; days < 304; days++) {
    await clock.advance(day);
    await looked();
  }
  assert.equal(serving.value, first);
  await clock.advance(2 * day);
  await rest(clock, () => serving.value !== first && readFileSync(path, 'utf8') !== file);
  assert.equal(readFileSync(join(directory, 'pki/server.crt'), 'utf8'), serving.value.certificate);
  stop.abort();
  await running;
  assert.equal(clock.pending, 0);
});
