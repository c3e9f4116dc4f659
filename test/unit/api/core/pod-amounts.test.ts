/**
 * Resources of a whole pod: the amounts that quota counts, that the scheduler requires and that cgroups get.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podLimitAmounts, podRequestAmounts } from '../../../../src/api/core/v1/pod/amounts.ts';
import { containerRequests, podRequests } from '../../../../src/api/core/v1/pod/requests.ts';
import type { Container, PodSpec } from '../../../../src/api/core/v1/types.gen.ts';
import { writeAmounts } from '../../../../src/apimachinery/amounts.ts';
import { container, pod } from '../../controllers/objects.ts';

type Amounts = Record<string, string>;

const using = (...amounts: Amounts[]) =>
  amounts.map((requests, index) =>
    container({ name: `c${index}`, resources: { requests, limits: requests } }),
  );
const step = (amounts: Amounts): Container => using(amounts)[0] as Container;
const sidecar = (amounts: Amounts): Container => ({ ...step(amounts), restartPolicy: 'Always' });

describe('the requests of a pod', () => {
  const table: [string, Partial<PodSpec>, Amounts][] = [
    [
      'are the sum of its containers',
      { containers: using({ cpu: '100m' }, { cpu: '1', memory: '1Gi' }) },
      { cpu: '1100m', memory: '1Gi' },
    ],
    [
      'are at least those of the largest init container',
      { containers: using({ cpu: '1' }), initContainers: [step({ cpu: '2' }), step({ cpu: '3' })] },
      { cpu: '3' },
    ],
    [
      'are computed for each resource separately',
      { containers: using({ cpu: '2' }), initContainers: [step({ cpu: '1', memory: '1Mi' })] },
      { cpu: '2', memory: '1Mi' },
    ],
    [
      'include its sidecars',
      { containers: using({ cpu: '1' }), initContainers: [sidecar({ cpu: '2' })] },
      { cpu: '3' },
    ],
    [
      'include sidecars beside each later init container',
      { containers: using({ cpu: '1' }), initContainers: [sidecar({ cpu: '2' }), step({ cpu: '3' })] },
      { cpu: '5' },
    ],
    [
      'include no sidecar beside an earlier init container',
      { containers: using({ cpu: '1' }), initContainers: [step({ cpu: '3' }), sidecar({ cpu: '1' })] },
      { cpu: '3' },
    ],
    [
      'include only one init container at a time',
      {
        containers: using({ cpu: '1' }),
        initContainers: [
          sidecar({ cpu: '1' }),
          step({ cpu: '3' }),
          step({ cpu: '3' }),
          sidecar({ cpu: '1' }),
        ],
      },
      { cpu: '4' },
    ],
  ];
  for (const [what, spec, expected] of table)
    it(what, () => {
      const whole = { ...pod('p').spec, ...spec };
      assert.deepEqual(writeAmounts(podRequestAmounts(whole)), expected);
      assert.deepEqual(writeAmounts(podLimitAmounts(whole)), expected);
    });

  it('include the overhead of its runtime, which is a limit only if there is a limit', () => {
    const spec = {
      ...pod('p').spec,
      containers: using({ cpu: '1', 'a/b': '0' }),
      overhead: { cpu: '250m', memory: '64Mi', 'a/b': '1' },
    };
    assert.deepEqual(writeAmounts(podRequestAmounts(spec)), { cpu: '1250m', memory: '64Mi', 'a/b': '1' });
    assert.deepEqual(writeAmounts(podLimitAmounts(spec)), { cpu: '1250m', 'a/b': '0' });
  });

  it('are numbers of thousandths of a CPU, and of whole units of other resources', () => {
    const spec = { ...pod('p').spec, containers: using({ cpu: '1500m', memory: '1Ki', x: 'no amount' }) };
    assert.deepEqual(Object.fromEntries(podRequests({ ...pod('p'), spec })), { cpu: 1500, memory: 1024 });
    const resources = { limits: { cpu: '2', memory: '1Ki' }, requests: { cpu: '1' } };
    assert.deepEqual(Object.fromEntries(containerRequests({ resources })), { cpu: 1000, memory: 1024 });
  });
});
