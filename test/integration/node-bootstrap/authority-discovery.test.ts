/** Discovery of a cluster's authority by its hash. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { discoverAuthority } from '../../../src/node-bootstrap/authority-discovery.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { never, type Rig, rejectsInOneLine, startRig } from './join-rig.ts';

describe('the search for the authority', () => {
  let rig: Rig;
  const warnings: string[] = [];
  before(async () => {
    rig = await startRig('auto');
  });
  after(() => rig.cluster.stop());
  beforeEach(() => {
    warnings.length = 0;
  });

  const discover = (more: { servers?: string[]; hash?: string; clock?: Clock }) =>
    discoverAuthority(
      {
        servers: [rig.url],
        hash: rig.hash,
        clock: systemClock,
        warn: (line) => warnings.push(line),
        ...more,
      },
      never,
    );

  it('returns the authority with the hash from the first server that answers', async () => {
    const { certificate } = rig.server.authority;
    for (const servers of [[rig.url], ['https://127.0.0.1:1', rig.url]]) {
      const found = await discover({ servers });
      assert.equal(
        new X509Certificate(found).fingerprint256,
        new X509Certificate(certificate).fingerprint256,
      );
    }
    assert.deepEqual(warnings, []);
  });

  it('reports the certificate of a server with another authority', async () => {
    const hash = `sha256:${'0'.repeat(64)}`;
    await rejectsInOneLine(
      discover({ hash }),
      new RegExp(`^${rig.url} presents an authority with the hash ${rig.hash}, not ${hash}`),
      /ca-cert-hash is wrong; copy it from minik8s token create$/,
    );
  });

  it('names every server that does not answer, and why', async () => {
    await rejectsInOneLine(
      discover({ servers: ['https://127.0.0.1:1', 'https://nowhere.invalid:6443'] }),
      /^no API server answers: https:\/\/127\.0\.0\.1:1 \(connection refused\), https:\/\/nowhere\.invalid:6443 \(/,
    );
  });

  it('reports the error of the machine’s clock if certificates are not valid at its time', async () => {
    const clock = new FakeClock(Date.now() - 5 * 3_600_000);
    await rejectsInOneLine(
      discover({ clock }),
      /^the clock of this machine is (4 h 59 min|5 h( \d+ s)?) behind that of https/,
      /its certificate is not valid before 20.*; set it \(timedatectl set-ntp true\)$/,
    );
    const ahead = new FakeClock(Date.now() + 3 * 24 * 3_600_000);
    await rejectsInOneLine(
      discover({ clock: ahead }),
      /is (3 d|2 d 23 h).* ahead of that of https.*valid until/,
    );
  });

  it('warns if the clock is slightly wrong', async () => {
    await discover({ clock: new FakeClock(Date.now() + 10 * 60_000) });
    assert.match(warnings.join(), /^the clock of this machine is (9 min 59 s|10 min( \d+ s)?) ahead of that/);
  });
});
