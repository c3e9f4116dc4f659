/** Pods that are evicted first when a node runs out of a resource. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type QosClass, qosClassOf } from '../../../../src/api/core/v1/pod/qos.ts';
import { container, pod } from '../../controllers/objects.ts';

type Resources = { readonly requests?: Record<string, string>; readonly limits?: Record<string, string> };

const all = { cpu: '1', memory: '1Gi' };
const guaranteed: Resources = { requests: all, limits: { cpu: '1000m', memory: '1024Mi' } };

const table: [what: string, expected: QosClass, containers: Resources[], init?: Resources[]][] = [
  ['nothing asked', 'BestEffort', [{}]],
  ['requests and limits of 0', 'BestEffort', [{ requests: { cpu: '0' }, limits: { memory: '0' } }]],
  [
    'a request of a resource that does not count',
    'BestEffort',
    [{ requests: { 'ephemeral-storage': '1Gi' } }],
  ],
  ['requests equal to the limits', 'Guaranteed', [guaranteed]],
  ['limits alone', 'Guaranteed', [{ limits: all }]],
  ['limits of each container', 'Guaranteed', [guaranteed, { limits: all }], [guaranteed]],
  ['less than the limits', 'Burstable', [{ requests: { cpu: '1', memory: '1Mi' }, limits: all }]],
  ['no limit for one resource', 'Burstable', [{ requests: all, limits: { cpu: '1' } }]],
  ['a request alone', 'Burstable', [{ requests: { cpu: '1' } }]],
  ['a request of 0 and a limit', 'Burstable', [{ requests: { cpu: '0' }, limits: { cpu: '1' } }]],
  ['no requests in one of two containers', 'Burstable', [guaranteed, {}]],
  ['resources in an init container alone', 'Burstable', [{}], [{ requests: { memory: '1Mi' } }]],
  ['no resources in an init container', 'Burstable', [guaranteed], [{}]],
];

describe('a pod is', () => {
  for (const [what, expected, containers, init = []] of table)
    it(`${expected} with ${what}`, () => {
      const spec = {
        ...pod('p').spec,
        containers: containers.map((resources) => container({ resources })),
        initContainers: init.map((resources) => container({ resources })),
      };
      assert.equal(qosClassOf(spec), expected);
    });
});
