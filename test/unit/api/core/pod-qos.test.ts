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
  ['nothing asked in so many words', 'BestEffort', [{ requests: { cpu: '0' }, limits: { memory: '0' } }]],
  ['only what does not count', 'BestEffort', [{ requests: { 'ephemeral-storage': '1Gi' } }]],
  ['as much as the limits', 'Guaranteed', [guaranteed]],
  ['limits alone', 'Guaranteed', [{ limits: all }]],
  ['limits of each container', 'Guaranteed', [guaranteed, { limits: all }], [guaranteed]],
  ['less than the limits', 'Burstable', [{ requests: { cpu: '1', memory: '1Mi' }, limits: all }]],
  ['no limit of one resource', 'Burstable', [{ requests: all, limits: { cpu: '1' } }]],
  ['a request alone', 'Burstable', [{ requests: { cpu: '1' } }]],
  ['nothing, with a limit', 'Burstable', [{ requests: { cpu: '0' }, limits: { cpu: '1' } }]],
  ['nothing by one of two', 'Burstable', [guaranteed, {}]],
  ['something before the others alone', 'Burstable', [{}], [{ requests: { memory: '1Mi' } }]],
  ['less before the others', 'Burstable', [guaranteed], [{}]],
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
