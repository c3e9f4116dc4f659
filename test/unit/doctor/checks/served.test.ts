import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ServedFacts, servedChecks } from '../../../../src/doctor/checks/served.ts';
import type { Listener } from '../../../../src/os/listeners.ts';
import { linesOf, observe, situation } from '../../../fixtures/situation.ts';

const none: ServedFacts = { listeners: [], webServer: [], heldPorts: [], rivals: [], deletedRules: [] };
const apache: Listener = {
  ...{ protocol: 'tcp', address: '*', port: 80 },
  process: { pid: 7, program: 'apache2', unit: 'apache2.service' },
};
const at = (name: string, facts: Partial<ServedFacts>) =>
  linesOf(observe(servedChecks, name, { ...none, ...facts }));

describe('checks of what a node serves', () => {
  it('report nothing if there is nothing to serve, and ok if everything is served', () => {
    for (const { name } of servedChecks) assert.deepEqual(at(name, {}), [], name);
    assert.deepEqual(
      at('web-server', {
        webServer: [{ type: 'IngressServed', isServed: true, message: 'Ingresses are served' }],
      }),
      ['ok: IngressServed: Ingresses are served'],
    );
  });

  it('name the process that holds the port of Ingresses', () => {
    const message = 'port 80 of this node is taken by another process; free it: the node serves hosts on it';
    const report = { type: 'IngressServed', isServed: false, message };
    assert.deepEqual(at('web-server', { webServer: [report], listeners: [apache] }), [
      `fault: IngressServed: ${message} (port 80 is held by apache2, process 7 of apache2.service) # systemctl disable --now apache2.service`,
    ]);
    assert.deepEqual(at('web-server', { webServer: [report] }), [`fault: IngressServed: ${message}`]);
  });

  it('name a port of a Gateway that is taken while its other ports are served', () => {
    const message = 'Gateways are served, except: port 9000 of this node is taken by another process';
    const listener: Listener = { ...apache, port: 9000, process: { pid: 8, program: 'nc' } };
    assert.match(
      at('web-server', {
        webServer: [{ type: 'GatewayServed', isServed: true, message }],
        listeners: [{ ...listener, address: '127.0.0.1', process: { pid: 9, program: 'other' } }, listener],
      })[0] ?? '',
      /^fault: GatewayServed: .*\(port 9000 is held by nc, process 8\) # kill 8$/,
    );
  });

  it('report everything else that the web server does not serve', () =>
    assert.match(
      at('web-server', {
        webServer: [{ type: 'DnsServed', isServed: false, message: 'there is no image' }],
      })[0] ?? '',
      /^fault: DnsServed: there is no image$/,
    ));

  it('name the process that holds the port of a load balancer', () => {
    const heldPorts = [{ protocol: 'tcp', port: 80, services: ['default/web'] }];
    assert.deepEqual(at('load-balancer-ports', { heldPorts, listeners: [apache] }), [
      'fault: port 80/tcp of the Service default/web is held by apache2, process 7 of apache2.service # systemctl disable --now apache2.service',
    ]);
    assert.deepEqual(at('load-balancer-ports', { heldPorts }), [
      "fault: port 80/tcp of the Service default/web is held by a process of the machine # ss -lnp 'sport = :80'",
    ]);
  });

  it('name another machine with the address of a load balancer', () =>
    assert.match(
      at('load-balancer-addresses', {
        rivals: [{ address: '192.0.2.40', machine: '02:00:00:00:00:07', service: 'default/web' }],
      })[0] ?? '',
      /^fault: another machine \(02:00:00:00:00:07\) has the address 192\.0\.2\.40 of the Service default\/web # minik8s ctl edit configmap/,
    ));

  it('report rules that another program has deleted within a day', () => {
    const deleted = (hours: number, count: number) => ({
      deletedRules: [{ what: 'Services', count, lastAt: situation.now - hours * 3_600_000 }],
    });
    assert.match(
      at('deleted-rules', deleted(1, 2))[0] ?? '',
      /^warning: another program deleted the nft rules of Services 2 times, last at 2026-11-29T11:00:00\.000Z # /,
    );
    assert.match(at('deleted-rules', deleted(1, 1))[0] ?? '', / once, last at /);
    assert.deepEqual(at('deleted-rules', deleted(25, 2)), []);
  });
});
