/** The doctor's facts, read from the real kernel and the real Docker engine of this machine. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { carryOutFix } from '../../../src/doctor/carry-out.ts';
import { readAddresses } from '../../../src/doctor/facts/addresses.ts';
import { readFacts } from '../../../src/doctor/facts/read-facts.ts';
import { type KnownFacts, machineFindings } from '../../../src/doctor/machine.ts';
import { tryPeers } from '../../../src/doctor/peers.ts';
import type { Situation } from '../../../src/doctor/situation.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { openCredentials } from '../../../src/pki/credentials.ts';
import { situation as usual } from '../../fixtures/situation.ts';

describe('facts of this machine', () => {
  let dataDir = '';
  let situation: Situation;
  let facts: KnownFacts;

  before(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'minik8s-doctor-'));
    mkdirSync(join(dataDir, 'etcd'), { mode: 0o700 });
    const { leaf } = await openCredentials(join(dataDir, 'pki'), Date.now);
    await leaf({ file: 'apiserver', commonName: 'x', hosts: ['192.0.2.1', 'a.example'], usages: ['server'] });
    situation = { ...usual, dataDir, dockerSocket: '/var/run/docker.sock', now: Date.now() };
    const sources = { exec: systemExec, clock: systemClock, situation, measuresDisk: true };
    facts = await readFacts({ ...sources, resolvConf: '/etc/resolv.conf' });
  });
  after(() => rmSync(dataDir, { recursive: true }));

  /** Returns the facts of a subject, which must be known. */
  function known<K extends keyof KnownFacts>(subject: K) {
    const fact = facts[subject];
    assert.ok(fact && 'value' in fact, `${subject}: ${JSON.stringify(fact)}`);
    return fact.value as Extract<NonNullable<KnownFacts[K]>, { value: unknown }>['value'];
  }

  it('are the features of the kernel', () => {
    const kernel = known('kernel');
    assert.equal(kernel.release, release());
    assert.deepEqual(kernel.lacks, { nft: undefined, iptables: undefined, vxlan: undefined });
    assert.ok(kernel.fileSystems.includes('overlay'), kernel.fileSystems.join());
  });

  it('are the addresses and routes of the machine, and those of IPv6 only in a cluster of two families', async () => {
    const { ipv6, links, routes } = known('addresses');
    assert.equal(ipv6, undefined);
    assert.ok(links.some(({ ifname }) => ifname === 'lo'));
    assert.ok(routes.every(({ dst }) => !dst.includes(':')));
    const dual = { ...situation, clusterCIDR: '10.244.0.0/16,fd00:10:244::/56' };
    const found = await readAddresses({
      ...{ exec: systemExec, clock: systemClock, situation: dual, measuresDisk: false },
      resolvConf: '/etc/resolv.conf',
    });
    assert.equal(
      found.ipv6?.forwarding,
      readFileSync('/proc/sys/net/ipv6/conf/all/forwarding', 'utf8').trim(),
    );
  });

  it('are the control groups that Docker reports too', async () => {
    const { stdout } = await systemExec('docker', ['info', '--format', '{{.CgroupVersion}}']);
    assert.equal(String(known('cgroup').version), stdout.trim());
    assert.ok(known('cgroup').controllers.includes('memory'));
  });

  it('are the settings of Docker', async () => {
    const { engine } = known('docker');
    const { stdout } = await systemExec('docker', ['version', '--format', '{{.Server.Version}}']);
    assert.ok(!('problem' in engine), JSON.stringify(engine));
    assert.equal(engine.version, stdout.trim());
    assert.match(engine.storageDriver, /^overlay/);
  });

  it('are the disks, measured without anything left behind', () => {
    const { disks, syncs = [] } = known('disk');
    assert.deepEqual(disks.map(({ what }) => what).sort(), ['data', 'etcd', 'images']);
    assert.ok(syncs.length === 20 && syncs.every((ms) => ms > 0), syncs.join());
    assert.deepEqual(readdirSync(join(dataDir, 'etcd')), []);
  });

  it('are certificates, and damaged ones', async () => {
    const { certificates } = known('certificates');
    assert.deepEqual(
      certificates.map(({ path, isAuthority }) => [path.slice(dataDir.length), isAuthority]),
      [
        ['/pki/apiserver.crt', false],
        ['/pki/ca.crt', true],
      ],
    );
    assert.deepEqual(certificates[0]?.hosts, ['192.0.2.1', 'a.example']);
    assert.ok((certificates[0]?.notAfter ?? 0) > Date.now() + 300 * 24 * 3600 * 1000);
  });

  it('are judged without a fault of the kernel or of Docker', () => {
    const findings = machineFindings(facts, situation);
    assert.deepEqual(
      findings.filter(
        ({ check, severity }) => /^(kernel|docker|cgroup)-/.test(check) && severity === 'fault',
      ),
      [],
    );
    assert.ok(findings.some(({ check, found }) => check === 'etcd-answers' && found === 'etcd does not run'));
  });

  it('are permissions of keys, which --fix closes', async () => {
    const key = join(dataDir, 'pki/ca.key');
    chmodSync(key, 0o644);
    const sources = { exec: systemExec, clock: systemClock, situation, measuresDisk: false };
    const again = await readFacts({ ...sources, resolvConf: '/etc/resolv.conf' });
    const [open] = machineFindings(again, situation).filter(({ check }) => check === 'permissions');
    assert.equal(open?.mend, `chmod 600 '${key}'`);
    assert.ok(open?.fix);
    await carryOutFix(systemExec, open.fix);
    assert.equal(statSync(key).mode & 0o777, 0o600);
  });

  it('are unknown, with the reason, if they cannot be read', async () => {
    const exec = async () => {
      throw new Error('no programs here');
    };
    writeFileSync(join(dataDir, 'pki/broken.crt'), 'x');
    const sources = { exec, clock: systemClock, situation, measuresDisk: false, resolvConf: '/nonexistent' };
    const without = await readFacts(sources);
    assert.deepEqual(without.firewall, { unknown: 'no programs here' });
    assert.deepEqual(without.ports, { unknown: 'no programs here' });
    const findings = machineFindings(without, situation);
    assert.ok(findings.some(({ found }) => found === 'not examined: no programs here'));
    assert.ok(findings.some(({ found }) => found === `${dataDir}/pki/broken.crt is no certificate`));
    assert.ok(findings.some(({ found }) => found === '/nonexistent names no server'));
  });
});

describe('a try to reach a peer', () => {
  it('takes a refused connection and a closed port for an answer', async () => {
    const peer = { node: 'b', address: '127.0.0.1', port: 1, overlayAddress: '127.0.0.1' };
    assert.deepEqual(await tryPeers(systemClock, [peer], 1450), [
      { node: 'b', address: '127.0.0.1', agent: {}, overlay: {}, large: { bytes: 1450 } },
    ]);
  });

  it('reports why a peer does not answer, and skips the other checks', async () => {
    const peer = { node: 'b', address: '255.255.255.255', port: 1, overlayAddress: '127.0.0.1' };
    assert.deepEqual(await tryPeers(systemClock, [peer], 1450), [
      { node: 'b', address: '255.255.255.255', agent: { problem: 'ENETUNREACH' } },
    ]);
  });

  it('ends with the number of peers that a node tries', async () => {
    const peers = Array.from({ length: 260 }, (_, index) => ({
      node: `n${index}`,
      address: '127.0.0.1',
      port: 1,
    }));
    assert.equal((await tryPeers(systemClock, peers, undefined)).length, 250);
  });
});
