import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointsText } from '../../../../src/cli/commands/service-endpoints-plan.ts';

const service = (spec: object) => ({ apiVersion: 'v1', kind: 'Service', spec: { ...spec } });
const selecting = service({ selector: { app: 'web', tier: 'front' } });
const slice = (ports: readonly number[], ...endpoints: readonly object[]) => ({
  ports: ports.map((port) => ({ port })),
  endpoints: [...endpoints],
});
const ready = (...addresses: string[]) => ({ addresses, conditions: { ready: true } });
const unready = (...addresses: string[]) => ({ addresses, conditions: { ready: false } });

test('endpoints are the addresses of all slices with their ports, without duplicates', () => {
  const slices = [
    slice([8080, 9090], ready('10.0.0.2'), unready('10.0.0.3')),
    slice([8080], ready('10.0.0.1'), ready('10.0.0.2'), { addresses: ['fd00::1'] }),
  ];
  assert.equal(
    endpointsText(selecting, slices),
    '10.0.0.1:8080, 10.0.0.2:8080, 10.0.0.2:9090, [fd00::1]:8080',
  );
});

test('a Service whose selector matches no pods has that as the reason', () =>
  assert.equal(endpointsText(selecting, []), '<none> (no running pod has the labels app=web,tier=front)'));

test('a Service whose pods are not ready has their number as the reason', () => {
  const slices = [slice([80], unready('10.0.0.1'), unready('10.0.0.2'))];
  assert.equal(endpointsText(selecting, slices), '<none> (pods that the selector matches: 2, ready: 0)');
});

test('a Service without a selector, and an external name, have no reason', () => {
  assert.equal(endpointsText(service({}), []), '<none>');
  assert.equal(endpointsText(service({ type: 'ExternalName', selector: { a: 'b' } }), []), '<none>');
});
