/**
 * docs/backup.md, followed to the letter: a backup of one host, restored on another one with another address.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { issueCertificate } from '../../src/pki/x509.ts';
import { testAuthority } from '../fixtures/certificates.ts';
import { startS3Server, unlessS3Server } from '../fixtures/s3-server.ts';
import { BareMachine } from './harness/bare-machine.ts';
import { Hosts } from './harness/hosts.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/backup.md'), 'utf8');

/** Returns the steps: each indented block, with the machine that the preceding line names. */
const stepsIn = (text: string) =>
  [...text.matchAll(/^On (vm[12]):\n\n((?: {4}.*\n)+)/gm)].map(([, machine = '', block = '']) => ({
    machine,
    script: block.replaceAll(/^ {4}/gm, ''),
  }));

const bucketSection = /^## Store them in a bucket\n[\s\S]*?(?=^## )/m.exec(page)?.[0] ?? '';
const steps = stepsIn(page.replace(bucketSection, ''));
const bucketSteps = stepsIn(bucketSection);
const machinesOf = (all: readonly { readonly machine: string }[]) => all.map(({ machine }) => machine);

const start = `minik8s up >/var/log/minik8s.log 2>&1 &
until grep 'minik8s is ready' /var/log/minik8s.log; do sleep 0.5; done
minik8s ctl apply -f samples/hello
minik8s ctl rollout status deployment hello`;

test('a backup is restored on another machine, as docs/backup.md says', { timeout: 300_000 }, async () => {
  assert.deepEqual(machinesOf(steps), ['vm1', 'vm1', 'vm2', 'vm2', 'vm2']);
  const closers: (() => Promise<void>)[] = [];
  const hosts = await Hosts.start({ after: (fn) => closers.push(fn) }, 2, { docker: false });
  try {
    const [first, second] = await Promise.all(
      hosts.all.map((host, index) => BareMachine.start(`vm${index + 1}`, host)),
    );
    assert.ok(first && second);
    await Promise.all([first.run('bin/make-images'), second.run('bin/make-images')]);
    await first.run(start);
    const outputs: string[] = [];
    for (const { machine, script } of steps.slice(0, 2)) {
      assert.equal(machine, 'vm1');
      outputs.push((await first.run(script)).stdout);
    }
    assert.match(outputs[0] ?? '', /\.tar\.zst\.age: \d+ keys at revision \d+/);
    assert.match(outputs[0] ?? '', /^CREATED +SIZE +ENCRYPTED +FILE\n\S+ +\S+ [kM]B +yes +\/var\/backups/m);
    assert.match(outputs[1] ?? '', /\.tar\.zst\.age is whole: \d+ keys/);
    const uid = (await first.run('minik8s ctl get deployment hello -o jsonpath={.metadata.uid}')).stdout;
    const copied = await first.run('cd / && tar -c root/passphrase var/backups/minik8s | base64');
    await first.run('pid=$(cut -d" " -f1 /var/lib/minik8s/minik8s.pid); kill -9 $pid');
    await second.run('cd / && base64 -d | tar -x', { input: copied.stdout });
    const patient = { timeoutMs: 150_000 };
    for (const { script } of steps.slice(2)) outputs.push((await second.run(script, patient)).stdout);
    assert.match(outputs[2] ?? '', /restored into \/var\/lib\/minik8s: \d+ keys/);
    assert.match(outputs[3] ?? '', /^vm1 +/m);
    assert.match(outputs[3] ?? '', /^vm2 +Ready/m);
    const pods = (outputs[4] ?? '').split('\n').filter((line) => /^hello-.* Running /.test(line));
    assert.ok(pods.length > 0 && pods.every((line) => line.includes('vm2')), outputs[4] ?? 'no output');
    const after = await second.run('minik8s ctl get deployment hello -o jsonpath={.metadata.uid}');
    assert.equal(after.stdout, uid);
  } finally {
    for (const close of closers) await close();
  }
});

const kept = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' }, data: { a: 'b' } };
const service = 's3.example.com';
const account = { accessKeyId: 'backup-key', secretAccessKey: 'backup-secret-1' };

/** Returns a certificate of the service, and the authority that signed it. */
async function serviceCertificate() {
  const authority = await testAuthority();
  const now = Date.now();
  const validity = { notBefore: now - 3_600_000, notAfter: now + 3_600_000 };
  const request = { commonName: service, hosts: [service], usages: ['server'] as const, ...validity };
  return { authority, pair: await issueCertificate(authority, request) };
}

test('a backup in a bucket is restored on another machine, as docs/backup.md says', {
  timeout: 300_000,
  skip: unlessS3Server,
}, async () => {
  assert.deepEqual(machinesOf(bucketSteps), ['vm1', 'vm1', 'vm2']);
  const closers: (() => Promise<void>)[] = [];
  const directory = await mkdtemp(join(tmpdir(), 'minik8s-e2e-bucket-'));
  const hosts = await Hosts.start({ after: (fn) => closers.push(fn) }, 2, { docker: false });
  try {
    const { authority, pair } = await serviceCertificate();
    const [cert, key] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
    await Promise.all([writeFile(cert, pair.certificate), writeFile(key, pair.key, { mode: 0o600 })]);
    const server = await startS3Server({ tls: { cert, key }, address: hosts.outside, port: 9000, account });
    closers.unshift(() => server.stop());
    await server.bucket('backups');
    const [first, second] = await Promise.all(
      hosts.all.map((host, index) => BareMachine.start(`vm${index + 1}`, host)),
    );
    assert.ok(first && second);
    const prepare = `echo '${hosts.outside} ${service}' >>/etc/hosts
cat >/root/s3-ca.crt
(umask 077; head -c 24 /dev/urandom | base64 >/root/passphrase)`;
    await first.run(prepare, { input: authority.certificate });
    const former = `node-ip: ${hosts.at(0).address}`;
    await first.run(`mkdir -p /etc/minik8s; echo '${former}' >/etc/minik8s/master.yaml`);
    await first.run(start.split('\n').slice(0, 2).join('\n'));
    await first.run('minik8s ctl apply -f -', { input: JSON.stringify(kept) });
    const outputs: string[] = [];
    for (const { script } of bucketSteps.slice(0, 2)) outputs.push((await first.run(script)).stdout);
    const file = String.raw`s3:\/\/backups\/first\/minik8s-\S+\.tar\.zst\.age`;
    assert.match(outputs[1] ?? '', new RegExp(`^${file}: \\d+ keys at revision \\d+`, 'm'));
    assert.match(outputs[1] ?? '', new RegExp(`^\\S+Z +\\S+ [kM]B +yes +${file}$`, 'm'));
    assert.match(outputs[1] ?? '', new RegExp(`^${file} is whole: \\d+ keys`, 'm'));
    const copied = await first.run('cd /root && tar -c passphrase s3-credentials s3-ca.crt | base64');
    await second.run('cd /root && base64 -d | tar -x', { input: copied.stdout });
    await second.run(`echo '${hosts.outside} ${service}' >>/etc/hosts`);
    const restored = await second.run(bucketSteps[2]?.script ?? '');
    assert.match(restored.stdout, /restored into \/var\/lib\/minik8s: \d+ keys/);
    const warning = `Warning: /etc/minik8s/master.yaml has ${former}, which is no address of this machine`;
    assert.ok(restored.stderr.includes(warning), restored.stderr);
    await second.run(`sed -i '/^node-ip:/d' /etc/minik8s/master.yaml`);
    await second.run(start.split('\n').slice(0, 2).join('\n'));
    const { stdout } = await second.run('minik8s ctl get configmap kept -o jsonpath={.data.a}');
    assert.equal(stdout, 'b');
    const logs = await first.run(
      'cat /var/log/minik8s.log; { cat /proc/*/cmdline 2>/dev/null || true; } | tr "\\0" " "',
    );
    assert.ok(!logs.stdout.includes(account.secretAccessKey));
  } finally {
    for (const close of closers) await close();
    await rm(directory, { recursive: true, force: true });
  }
});
