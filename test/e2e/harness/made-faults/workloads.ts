/** Workloads whose pods are not made, fail or never become ready. */
import type { MadeFault } from './made-fault.ts';
import {
  deployment,
  job,
  main,
  named,
  object,
  probe,
  removing,
  restart,
  shell,
  workload,
} from './objects.ts';

export const workloads: readonly MadeFault[] = [
  {
    mistake: 'a quota without room for pods',
    ask: 'deployment/x',
    objects: [object('v1', 'ResourceQuota', 'few', { hard: { pods: '0' } }), deployment()],
    words: [/quota/i, /few|pods/],
    mend: { run: [['patch', 'quota', 'few', '-p', '{"spec":{"hard":{"pods":"5"}}}'], restart] },
  },
  {
    mistake: 'a quota of memory, and a pod without a request',
    ask: 'deployment/x',
    objects: [object('v1', 'ResourceQuota', 'memory', { hard: { 'requests.memory': '1Gi' } }), deployment()],
    words: [/requests\.memory|memory/i, /quota|must|specify/i],
    mend: { run: [['set', 'resources', 'deployment', 'x', '--requests=memory=16Mi']] },
  },
  {
    mistake: 'a container beyond the LimitRange',
    ask: 'deployment/x',
    objects: [
      object('v1', 'LimitRange', 'small', { limits: [{ type: 'Container', max: { memory: '8Mi' } }] }),
      deployment(main({ resources: { limits: { memory: '64Mi' } } })),
    ],
    words: [/maximum|limit ?range|8Mi/i],
    mend: { run: [['set', 'resources', 'deployment', 'x', '--limits=memory=8Mi', '--requests=memory=8Mi']] },
  },
  {
    mistake: 'a priority class that does not exist',
    ask: 'deployment/x',
    objects: [deployment(main(), {}, { priorityClassName: 'urgent' })],
    words: [/urgent/],
    mend: { named: {} },
  },
  {
    mistake: 'a policy that refuses the pods',
    ask: 'deployment/x',
    objects: [deployment(main({ securityContext: { privileged: true } }))],
    words: [/privileged|PodSecurity|baseline/i],
    mend: { run: [removing('containers/0/securityContext')] },
  },
  {
    mistake: 'a Deployment that is paused before its first pod',
    ask: 'deployment/x',
    objects: [deployment(main(), { paused: true })],
    words: [/paused/i],
    mend: { named: {} },
  },
  {
    mistake: 'a StatefulSet whose first pod is never ready',
    ask: 'statefulset/x',
    objects: [
      workload('StatefulSet', main({ readinessProbe: probe('exit 1') }), { replicas: 3, serviceName: 'x' }),
    ],
    words: [/readiness/i],
    mend: { run: [removing('containers/0/readinessProbe', 'statefulset'), ['delete', 'pod', 'x-0']] },
  },
  {
    mistake: 'a Job that fails',
    ask: 'job/x',
    objects: [job(shell('exit 7'))],
    words: [/\b7\b/],
    mend: { again: [job(shell('exit 0'))] },
  },
  {
    mistake: 'a Job that exceeds its deadline',
    ask: 'job/x',
    objects: [job(shell('sleep 100000'), { activeDeadlineSeconds: 3 })],
    words: [/deadline/i],
    mend: { named: {}, add: [job(shell('exit 0'), { activeDeadlineSeconds: 60 })] },
  },
  {
    mistake: 'a suspended Job',
    ask: 'job/x',
    objects: [job(main(), { suspend: true })],
    words: [/suspend/i],
    mend: { named: {} },
  },
  {
    mistake: 'an autoscaler of a Deployment that does not exist',
    ask: 'hpa/x',
    objects: [
      object('autoscaling/v2', 'HorizontalPodAutoscaler', 'x', {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        ...{ minReplicas: 1, maxReplicas: 3 },
      }),
    ],
    words: [/web/, /exist|found|no /i],
    mend: { add: [named('web', deployment(main({ resources: { requests: { cpu: '10m' } } })))] },
  },
  {
    mistake: 'an autoscaler by processor of pods without a request',
    ask: 'hpa/x',
    objects: [
      deployment(),
      object('autoscaling/v2', 'HorizontalPodAutoscaler', 'x', {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' },
        ...{ minReplicas: 1, maxReplicas: 3 },
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
          },
        ],
      }),
    ],
    words: [/cpu/i, /request/i],
    mend: { named: { gaps: { AMOUNT: '10m' } } },
  },
];
