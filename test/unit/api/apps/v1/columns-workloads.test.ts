import { deploymentResource } from '../../../../../src/api/apps/v1/deployment.ts';
import { replicaSetResource } from '../../../../../src/api/apps/v1/replica-set.ts';
import { testCells } from '../../column-cells.ts';

const template = {
  metadata: { labels: { app: 'web' } },
  spec: {
    containers: [
      { name: 'a', image: 'x:1' },
      { name: 'b', image: 'y:2' },
    ],
  },
};
const workload = { replicas: 3, selector: { matchLabels: { app: 'web' } }, template };
testCells(
  replicaSetResource,
  'new',
  { spec: workload },
  {
    Desired: 3,
    Current: 0,
    Ready: 0,
    Containers: 'a,b',
    Images: 'x:1,y:2',
    Selector: 'app=web',
  },
);
testCells(
  replicaSetResource,
  'at work',
  { spec: workload, status: { replicas: 2, readyReplicas: 1 } },
  {
    Desired: 3,
    Current: 2,
    Ready: 1,
  },
);
testCells(
  deploymentResource,
  'new',
  { spec: workload },
  {
    Ready: '0/3',
    'Up-to-date': 0,
    Available: 0,
    Containers: 'a,b',
    Images: 'x:1,y:2',
    Selector: 'app=web',
  },
);
testCells(
  deploymentResource,
  'at work',
  {
    spec: workload,
    status: { replicas: 4, readyReplicas: 3, updatedReplicas: 2, availableReplicas: 1 },
  },
  { Ready: '3/3', 'Up-to-date': 2, Available: 1 },
);
