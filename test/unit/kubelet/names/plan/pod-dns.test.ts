/** Contents of a pod's resolv.conf. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderResolvConf } from '../../../../../src/kubelet/names/plan/pod-dns.ts';
import { makePod } from '../../builders.ts';

describe('DNS settings of a pod', () => {
  const facts = {
    clusterDNS: '10.96.0.10',
    clusterDomain: 'cluster.local',
    hostResolvConf: 'search corp.example\nnameserver 9.9.9.9\n',
  };
  const text = (spec: Parameters<typeof makePod>[0], more: object = {}) =>
    renderResolvConf(makePod(spec), { ...facts, ...more }).text;
  it('use cluster DNS first', () => {
    assert.equal(
      text({}),
      'search shop.svc.cluster.local svc.cluster.local cluster.local corp.example\nnameserver 10.96.0.10\noptions ndots:5\n',
    );
  });
  for (const [spec, more] of [
    [{ dnsPolicy: 'Default' }, {}],
    [{ hostNetwork: true }, {}],
    [{}, { clusterDNS: undefined }],
  ] as const) {
    it(`are the settings of the host for ${JSON.stringify([spec, more])}`, () => {
      assert.equal(text(spec, more), facts.hostResolvConf);
    });
  }
  it('use cluster DNS in the host network with ClusterFirstWithHostNet', () => {
    assert.match(
      text({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
      /^nameserver 10.96.0.10$/m,
    );
  });
  it('are only the settings of dnsConfig with the policy None', () => {
    const dnsConfig = {
      nameservers: ['192.0.2.1'],
      searches: ['a.example', 'b.example'],
      options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
    };
    assert.equal(
      text({ dnsPolicy: 'None', dnsConfig }),
      'search a.example b.example\nnameserver 192.0.2.1\noptions ndots:2 edns0\n',
    );
  });
  it("combine the pod's options with its policy, and the pod’s options win", () => {
    const dnsConfig = {
      nameservers: ['192.0.2.1', '10.96.0.10'],
      searches: ['b.example', 'corp.example'],
      options: [{ name: 'ndots', value: '1' }],
    };
    assert.equal(
      text({ dnsConfig }),
      'search shop.svc.cluster.local svc.cluster.local cluster.local corp.example b.example\nnameserver 10.96.0.10\nnameserver 192.0.2.1\noptions ndots:1\n',
    );
  });
  it('are cut to the limits of resolvers, with a warning', () => {
    const dnsConfig = {
      nameservers: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
      searches: Array.from({ length: 32 }, (_, n) => `s${n}.example`),
    };
    const { text, warnings } = renderResolvConf(makePod({ dnsConfig }), facts);
    const [search = '', ...servers] = text.split('\n');
    assert.deepEqual(
      servers.filter((line) => line.startsWith('nameserver')),
      ['nameserver 10.96.0.10', 'nameserver 192.0.2.1', 'nameserver 192.0.2.2'],
    );
    assert.equal(search.split(' ').length - 1, 32);
    assert.match(search, / s27\.example$/);
    assert.deepEqual(warnings, [
      'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10.96.0.10 192.0.2.1 192.0.2.2',
      `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${search.slice('search '.length)}`,
    ]);
  });

  it('contain exactly the options of the policy and of the pod', () => {
    const options = [{ name: 'edns0' }, { name: 'timeout', value: '3' }, { name: '' }, { value: '1' }];
    const more = { hostResolvConf: 'nameserver 9.9.9.9\noptions rotate timeout:1\n' };
    assert.match(text({ dnsConfig: { options } }), /\noptions ndots:5 edns0 timeout:3\n$/);
    assert.equal(
      text({ dnsPolicy: 'Default', dnsConfig: { options } }, more),
      'nameserver 9.9.9.9\noptions rotate timeout:3 edns0\n',
    );
    assert.equal(text({ dnsPolicy: 'Default', dnsConfig: {} }, more), more.hostResolvConf);
  });

  describe('limits of resolv.conf', () => {
    const none = (dnsConfig: object) => renderResolvConf(makePod({ dnsPolicy: 'None', dnsConfig }), facts);
    const nameservers = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    // Seven domains of 255 characters, each followed by a blank, and one that fills the line.
    const long = Array.from({ length: 7 }, (_, n) => `${n}${'x'.repeat(254)}`);
    const last = (length: number) => 'y'.repeat(length);

    it('may be reached without a warning', () => {
      const searches = [...long, last(256)];
      assert.equal(searches.join(' ').length, 2048);
      const { text: whole, warnings } = none({ nameservers, searches });
      assert.match(
        whole,
        new RegExp(` ${last(256)}\nnameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n`),
      );
      assert.deepEqual(warnings, []);
    });

    it('drop a search domain after which the line exceeds 2048 characters, and all domains that follow', () => {
      const { text: cut, warnings } = none({ nameservers, searches: [...long, last(257), 'z'] });
      assert.equal(cut.split('\n')[0], `search ${long.join(' ')}`);
      assert.deepEqual(
        warnings.map((warning) => warning.replace(/,.*$/, '')),
        ['Search Line limits were exceeded'],
      );
    });
  });
});
