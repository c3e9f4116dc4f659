import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kernelHostname, podHostname, renderHosts } from '../../../../../src/kubelet/names/plan/pod-hosts.ts';
import { makePod } from '../../builders.ts';

const facts = { podIPs: ['10.244.0.2'], clusterDomain: 'cluster.local', hostHosts: '192.0.2.1 router\n' };
const below = { hostname: 'own', subdomain: 'db' };

describe('the name of a pod', () => {
  it("is its hostname, else the name of the object, cut to the kernel's limit", () => {
    assert.equal(podHostname(makePod()), 'web');
    assert.equal(podHostname(makePod({ hostname: 'own' })), 'own');
    assert.equal(podHostname(makePod({}, { name: `${'a'.repeat(62)}-b` })), 'a'.repeat(62));
  });

  const kernel = (spec: object) => kernelHostname(makePod(spec), 'cluster.local');
  for (const [spec, name] of [
    [below, 'own'],
    [{ ...below, setHostnameAsFQDN: false }, 'own'],
    [{ ...below, setHostnameAsFQDN: true }, 'own.db.shop.svc.cluster.local'],
    [{ setHostnameAsFQDN: true }, 'web'],
    [{ ...below, setHostnameAsFQDN: true, hostNetwork: true }, 'own'],
  ] as const) {
    it(`is ${name} to the kernel for ${JSON.stringify(spec)}`, () => assert.equal(kernel(spec), name));
  }

  it('in full has at most 64 characters', () => {
    const rest = '.db.shop.svc.cluster.local';
    const named = (length: number) => ({
      hostname: 'a'.repeat(length - rest.length),
      subdomain: 'db',
      setHostnameAsFQDN: true,
    });
    assert.equal(kernel(named(64)).length, 64);
    assert.throws(
      () => kernel(named(65)),
      /^Error: failed to construct FQDN .*, FQDN a+\.db\.shop\.svc\.cluster\.local is too long \(64 characters is the max, 65 characters requested\)$/,
    );
    assert.equal(kernel({ ...named(65), hostNetwork: true }).length, 65 - rest.length);
  });
});

describe('/etc/hosts of a pod', () => {
  const standard = [
    '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::0\tip6-localnet',
    'fe00::0\tip6-mcastprefix',
    'fe00::1\tip6-allnodes',
    'fe00::2\tip6-allrouters',
  ];
  const hostAliases = [{ ip: '192.0.2.7', hostnames: ['db', 'db.example'] }, { ip: '192.0.2.8' }];

  it('contains the address and the name of the pod', () => {
    assert.equal(renderHosts(makePod(), facts), [...standard, '10.244.0.2\tweb', ''].join('\n'));
  });

  it('contains a line for each address of the pod', () => {
    const two = { ...facts, podIPs: ['10.244.0.2', 'fd00:10:244::2'] };
    assert.equal(
      renderHosts(makePod(), two),
      [...standard, '10.244.0.2\tweb', 'fd00:10:244::2\tweb', ''].join('\n'),
    );
  });

  it('contains the full name of a pod with a subdomain', () => {
    assert.equal(
      renderHosts(makePod(below), facts),
      [...standard, '10.244.0.2\town.db.shop.svc.cluster.local\town', ''].join('\n'),
    );
  });

  it("contains the pod's additions at its end", () => {
    assert.equal(
      renderHosts(makePod({ hostAliases }), facts),
      [
        ...[...standard, '10.244.0.2\tweb', '', '# Entries added by HostAliases.'],
        ...['192.0.2.7\tdb\tdb.example', '192.0.2.8', ''],
      ].join('\n'),
    );
  });

  it('is the machine’s file for a pod in the host network, with the pod’s additions', () => {
    const inHost = { ...facts, podIPs: [] };
    const managed = '# Kubernetes-managed hosts file (host network).\n192.0.2.1 router\n';
    assert.equal(renderHosts(makePod({ hostNetwork: true }), inHost), managed);
    assert.equal(
      renderHosts(makePod({ hostNetwork: true, hostAliases }), inHost),
      `${managed}\n# Entries added by HostAliases.\n192.0.2.7\tdb\tdb.example\n192.0.2.8\n`,
    );
  });
});
