import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { portChecks } from '../../../../src/doctor/checks/ports.ts';
import type { Situation } from '../../../../src/doctor/situation.ts';
import type { Listener } from '../../../../src/os/listeners.ts';
import { linesOf, observe } from '../../../fixtures/situation.ts';

const tcp = (port: number, pid: number, more: Partial<Listener> = {}): Listener => ({
  ...{ protocol: 'tcp', address: '0.0.0.0', port, process: { pid, program: 'nc' } },
  ...more,
});
const at = (listeners: readonly Listener[], more: Partial<Situation> = {}, hasOverlayLink = false) =>
  linesOf(observe(portChecks, 'ports', { listeners, hasOverlayLink, webServers: ['a1'] }, more));

const [api, agent, vxlan] = [
  'port 6443/tcp (API server)',
  'port 10250/tcp (node agent)',
  'port 8472/udp (overlay)',
];

describe('checks of ports', () => {
  it('report free ports', () =>
    assert.deepEqual(at([tcp(22, 7)]), [
      `ok: ${api} is free`,
      `ok: ${agent} is free`,
      `ok: ${vxlan} is free`,
    ]));

  it('accept ports that minik8s itself holds', () =>
    assert.deepEqual(
      at(
        [
          tcp(6443, 42),
          tcp(10250, 42, { address: '192.0.2.1' }),
          { protocol: 'udp', address: '0.0.0.0', port: 8472 },
        ],
        { pid: 42 },
        true,
      ),
      [`ok: ${api} is held by minik8s`, `ok: ${agent} is held by minik8s`, `ok: ${vxlan} is held by minik8s`],
    ));

  it('name the process or the service that holds a port', () => {
    assert.equal(at([tcp(6443, 7)], { pid: 42 })[0], `fault: ${api} is held by nc, process 7 # kill 7`);
    const service = { process: { pid: 7, program: 'nginx', unit: 'nginx.service' } };
    assert.equal(
      at([tcp(10250, 7, service)])[1],
      `fault: ${agent} is held by nginx, process 7 of nginx.service # systemctl disable --now nginx.service`,
    );
  });

  it('ignore another address or another protocol', () => {
    const elsewhere = [tcp(10250, 7, { address: '192.0.2.99' }), tcp(8472, 7)];
    assert.deepEqual(at(elsewhere), [`ok: ${api} is free`, `ok: ${agent} is free`, `ok: ${vxlan} is free`]);
    assert.match(at([tcp(10250, 7, { address: '[::]' })])[1] ?? '', /^fault/);
  });

  it('report a holder without its process as unknown', () =>
    assert.equal(
      at([{ protocol: 'tcp', address: '*', port: 6443 }])[0],
      `note: ${api} is held by a process that is not known # ss -lnp`,
    ));

  it('accept the web server of minik8s on ports of Ingresses, and warn about other holders', () => {
    const webPorts = [
      { port: 80, flag: '--http-port' },
      { port: 443, flag: '--https-port' },
    ] as const;
    const nginx = (pid: number, home: object) => ({ process: { pid, program: 'nginx', ...home } });
    const held = [
      tcp(80, 7, nginx(7, { container: 'a1' })),
      tcp(443, 8, nginx(8, { unit: 'nginx.service' })),
    ];
    assert.deepEqual(at(held, { webPorts }).slice(-2), [
      'ok: port 80/tcp (Ingresses and Gateways) is held by minik8s',
      'warning: port 443/tcp (Ingresses and Gateways) is held by nginx, process 8 of nginx.service # systemctl disable --now nginx.service',
    ]);
    const [other = ''] = at([tcp(80, 7, nginx(7, { container: 'b2'.repeat(32) }))], { webPorts }).slice(-2);
    assert.match(other, /held by nginx, process 7 of container b2b2b2b2b2b2 # docker stop b2b2b2b2b2b2$/);
    assert.equal(at(held, { webPorts, hasNode: false }).length, 1, 'a master serves none');
  });

  it('concern only the roles of the machine', () => {
    assert.deepEqual(at([], { hasNode: false }), [`ok: ${api} is free`]);
    assert.deepEqual(at([], { hasMaster: false, overlay: 'host-routes' }), [`ok: ${agent} is free`]);
  });
});
