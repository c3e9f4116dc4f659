import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DnsFacts, dnsChecks } from '../../../../src/doctor/checks/dns.ts';
import { linesOf, observe } from '../../../fixtures/situation.ts';

const at = (name: string, text: string, more: Partial<DnsFacts> = {}) =>
  linesOf(observe(dnsChecks, name, { path: '/etc/resolv.conf', text, silent: [], ...more }));

describe('checks of name servers', () => {
  it('accept a server that answers', () =>
    assert.deepEqual(at('dns-servers', 'nameserver 192.0.2.53\n'), ['ok: name server 192.0.2.53 answers']));

  it('require at least one server', () =>
    assert.match(
      at('dns-servers', 'search example.com\n')[0] ?? '',
      /^fault: \/etc\/resolv\.conf names no server # printf/,
    ));

  it('reject cluster DNS as its own name server', () =>
    assert.deepEqual(at('dns-servers', 'nameserver 10.96.0.10\n'), [
      "fault: /etc/resolv.conf names cluster DNS (10.96.0.10) # sed -i '/^nameserver 10.96.0.10$/d' /etc/resolv.conf",
    ]));

  it('warn about a silent server, and note a server on this machine', () =>
    assert.deepEqual(
      at('dns-servers', 'nameserver 192.0.2.53\nnameserver 127.0.0.53\n', { silent: ['192.0.2.53'] }),
      [
        "warning: name server 192.0.2.53 of /etc/resolv.conf does not answer # sed -i '/^nameserver 192.0.2.53$/d' /etc/resolv.conf",
        'note: name server 127.0.0.53 of /etc/resolv.conf runs on this machine',
      ],
    ));
});

describe('checks of cluster DNS', () => {
  const name = 'kubernetes.default.svc.cluster.local';
  it('resolve a name of the cluster', () =>
    assert.deepEqual(at('dns-cluster', '', { clusterName: { name, address: '10.96.0.1' } }), [
      `ok: ${name} is 10.96.0.1 at 10.96.0.10`,
    ]));
  it('advise restarting a node whose cluster DNS does not answer', () =>
    assert.deepEqual(at('dns-cluster', '', { clusterName: { name, problem: 'ETIMEOUT' } }), [
      `fault: cluster DNS at 10.96.0.10 does not find ${name}: ETIMEOUT # systemctl restart minik8s.service`,
    ]));
  it('report nothing if no node runs', () => assert.deepEqual(at('dns-cluster', ''), []));
});
