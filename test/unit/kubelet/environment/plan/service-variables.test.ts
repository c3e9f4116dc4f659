import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type NamedService,
  serviceVariables,
} from '../../../../../src/kubelet/environment/plan/service-variables.ts';

type Port = NonNullable<NamedService['spec']['ports']>[number];

const port = (number: number, name?: string, protocol: Port['protocol'] = 'TCP'): Port => ({
  port: number,
  protocol,
  ...(name && { name }),
});
const service = (
  name: string,
  namespace: string,
  clusterIP: string,
  ports: Port[] = [port(80)],
): NamedService => ({ metadata: { name, namespace }, spec: { clusterIP, ports } });

const api = service('kubernetes', 'default', '10.96.0.1', [port(443, 'https')]);
const apiVariables = {
  KUBERNETES_SERVICE_HOST: '10.96.0.1',
  KUBERNETES_SERVICE_PORT: '443',
  KUBERNETES_SERVICE_PORT_HTTPS: '443',
  KUBERNETES_PORT: 'tcp://10.96.0.1:443',
  KUBERNETES_PORT_443_TCP: 'tcp://10.96.0.1:443',
  KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
  KUBERNETES_PORT_443_TCP_PORT: '443',
  KUBERNETES_PORT_443_TCP_ADDR: '10.96.0.1',
};

const of = (services: NamedService[], links = true, namespace = 'shop') =>
  Object.fromEntries(serviceVariables(services, namespace, links));

describe('variables of Services', () => {
  it('contain the address, the ports and the variables of Docker links', () => {
    assert.deepEqual(of([service('my-web', 'shop', '10.96.0.9', [port(80), port(53, 'dns-u', 'UDP')])]), {
      MY_WEB_SERVICE_HOST: '10.96.0.9',
      MY_WEB_SERVICE_PORT: '80',
      MY_WEB_PORT: 'tcp://10.96.0.9:80',
      MY_WEB_PORT_80_TCP: 'tcp://10.96.0.9:80',
      MY_WEB_PORT_80_TCP_PROTO: 'tcp',
      MY_WEB_PORT_80_TCP_PORT: '80',
      MY_WEB_PORT_80_TCP_ADDR: '10.96.0.9',
      MY_WEB_SERVICE_PORT_DNS_U: '53',
      MY_WEB_PORT_53_UDP: 'udp://10.96.0.9:53',
      MY_WEB_PORT_53_UDP_PROTO: 'udp',
      MY_WEB_PORT_53_UDP_PORT: '53',
      MY_WEB_PORT_53_UDP_ADDR: '10.96.0.9',
    });
  });
  it('exist for the Services of the pod’s namespace and for the API server', () => {
    const others = [service('web', 'other', '10.96.0.9'), service('web', 'default', '10.96.0.8')];
    const names = Object.keys(of([...others, service('kubernetes', 'other', '10.96.0.7'), api]));
    assert.deepEqual(names.toSorted(), Object.keys(apiVariables).toSorted());
  });
  it('exist only for the API server if links are disabled', () => {
    assert.deepEqual(of([service('web', 'shop', '10.96.0.9'), api], false), apiVariables);
  });
  it('leave out Services without an address', () => {
    const unset: NamedService = { metadata: { name: 'c', namespace: 'shop' }, spec: { ports: [port(80)] } };
    assert.deepEqual(of([service('a', 'shop', 'None'), service('b', 'shop', ''), unset]), {});
  });
  it('leave out Services without a port', () => {
    const unset: NamedService = {
      metadata: { name: 'c', namespace: 'shop' },
      spec: { clusterIP: '10.96.0.9' },
    };
    assert.deepEqual(of([service('a', 'shop', '10.96.0.9', []), unset]), {});
  });
  it('prefer a Service kubernetes of the pod’s namespace to the API server, unless links are disabled', () => {
    const own = service('kubernetes', 'shop', '10.96.0.7');
    for (const services of [
      [own, api],
      [api, own],
    ]) {
      assert.equal(of(services).KUBERNETES_SERVICE_HOST, '10.96.0.7');
      assert.equal(of(services, false).KUBERNETES_SERVICE_HOST, '10.96.0.1');
    }
  });
  it('are in the order of the Services’ names', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => service(name, 'shop', '10.0.0.2'));
    assert.ok(a && b && c);
    for (const services of [
      [a, b, c],
      [c, b, a],
      [b, a, c],
    ]) {
      const names = [...serviceVariables(services, 'shop', true).keys()];
      assert.deepEqual(
        names.filter((name) => name.endsWith('_HOST')),
        ['A_SERVICE_HOST', 'B_SERVICE_HOST', 'C_SERVICE_HOST'],
      );
    }
  });
  it('write an address of IPv6 as in a URL', () => {
    const { A_SERVICE_HOST, A_PORT } = of([service('a', 'shop', 'fd00::1')]);
    assert.deepEqual({ A_SERVICE_HOST, A_PORT }, { A_SERVICE_HOST: 'fd00::1', A_PORT: 'tcp://[fd00::1]:80' });
  });
});
