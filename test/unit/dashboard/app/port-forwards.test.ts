import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { portForwards } from '../../../../src/dashboard/app/object/plan/port-forwards.ts';

const service = (...ports: readonly object[]) => ({
  metadata: { name: 'web', namespace: 'shop' },
  spec: { ports: ports as never },
});

const addressOf = (port: object) => portForwards('Service', service(port))[0]?.address;

describe('commands that forward ports', () => {
  it('use a port of this machine that needs no rights of root', () => {
    const [first, second] = portForwards('Service', service({ port: 80, name: 'http' }, { port: 9090 }));
    assert.deepEqual(first, {
      title: '80 (http)',
      command: 'minik8s ctl port-forward --namespace shop service/web 8080:80',
      address: 'http://localhost:8080/',
    });
    assert.equal(second?.command, 'minik8s ctl port-forward --namespace shop service/web 9090:9090');
  });

  it('of a Pod are those of all its containers, each port once, without UDP', () => {
    const pod = {
      metadata: { name: 'web-1', namespace: 'shop' },
      spec: {
        containers: [
          { ports: [{ containerPort: 8080 }, { containerPort: 53, protocol: 'UDP' }] },
          { ports: [{ containerPort: 8080 }, { containerPort: 8443 }] },
          {},
        ],
      },
    };
    assert.deepEqual(
      portForwards('Pod', pod).map(({ command, address }) => [
        command.split(' ').slice(-2).join(' '),
        address,
      ]),
      [
        ['pod/web-1 8080:8080', 'http://localhost:8080/'],
        ['pod/web-1 8443:8443', 'https://localhost:8443/'],
      ],
    );
  });

  it('have an address if the protocol, the name or the number of the port is that of HTTP', () => {
    assert.equal(addressOf({ port: 7000, appProtocol: 'kubernetes.io/ws' }), 'http://localhost:7000/');
    assert.equal(addressOf({ port: 7000, name: 'https-admin' }), 'https://localhost:7000/');
    assert.equal(addressOf({ port: 443 }), 'https://localhost:8443/');
    assert.equal(addressOf({ port: 8080, name: 'grpc' }), undefined);
    assert.equal(addressOf({ port: 5432 }), undefined);
  });

  it('leave out invalid ports, and are absent for objects without ports', () => {
    const ports = [{ port: 0 }, { port: '80; rm' }, {}, { port: 70000 }];
    assert.deepEqual(portForwards('Service', service(...ports)), []);
    assert.deepEqual(portForwards('Pod', { metadata: { name: 'x', namespace: 'y' } }), []);
  });
});
