/** Workloads whose pods are not made, fail or never become ready. */
import type { MadeFault } from './made-fault.ts';
import { deployment, job, main, object, probe, shell, workload } from './objects.ts';

export const workloads: readonly MadeFault[] = [
  {
    mistake: 'a quota without room for pods',
    ask: 'deployment/x',
    objects: [object('v1', 'ResourceQuota', 'few', { hard: { pods: '0' } }), deployment()],
    words: [/quota/i, /few|pods/],
  },
  {
    mistake: 'a quota of memory, and a pod without a request',
    ask: 'deployment/x',
    objects: [object('v1', 'ResourceQuota', 'memory', { hard: { 'requests.memory': '1Gi' } }), deployment()],
    words: [/requests\.memory|memory/i, /quota|must|specify/i],
  },
  {
    mistake: 'a container beyond the LimitRange',
    ask: 'deployment/x',
    objects: [
      object('v1', 'LimitRange', 'small', { limits: [{ type: 'Container', max: { memory: '8Mi' } }] }),
      deployment(main({ resources: { limits: { memory: '64Mi' } } })),
    ],
    words: [/maximum|limit ?range|8Mi/i],
  },
  {
    mistake: 'a priority class that does not exist',
    ask: 'deployment/x',
    objects: [deployment(main(), {}, { priorityClassName: 'urgent' })],
    words: [/urgent/],
  },
  {
    mistake: 'a policy that refuses the pods',
    ask: 'deployment/x',
    objects: [deployment(main({ securityContext: { privileged: true } }))],
    words: [/privileged|PodSecurity|baseline/i],
  },
  {
    mistake: 'a Deployment that is paused before its first pod',
    ask: 'deployment/x',
    objects: [deployment(main(), { paused: true })],
    words: [/paused/i],
  },
  {
    mistake: 'a StatefulSet whose first pod is never ready',
    ask: 'statefulset/x',
    objects: [
      workload('StatefulSet', main({ readinessProbe: probe('exit 1') }), { replicas: 3, serviceName: 'x' }),
    ],
    words: [/readiness/i],
  },
  {
    mistake: 'a Job that fails',
    ask: 'job/x',
    objects: [job(shell('exit 7'))],
    words: [/\b7\b/],
  },
  {
    mistake: 'a Job that exceeds its deadline',
    ask: 'job/x',
    objects: [job(shell('sleep 100000'), { activeDeadlineSeconds: 3 })],
    words: [/deadline/i],
  },
  {
    mistake: 'a suspended Job',
    ask: 'job/x',
    objects: [job(main(), { suspend: true })],
    words: [/suspend/i],
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
  },
];
