/** HorizontalPodAutoscalers as they are written in each version; together they have every field. */
const scaleTargetRef = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' };
const selector = { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'a', operator: 'Exists' }] };
const describedObject = { kind: 'Service', name: 'web', apiVersion: 'v1' };

const utilization = { type: 'Utilization', averageUtilization: 50 };
export const cpu = { type: 'Resource', resource: { name: 'cpu', target: utilization } };
export const memory = {
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '512Mi' } },
};
export const pods = {
  type: 'Pods',
  pods: { metric: { name: 'hits', selector }, target: { type: 'AverageValue', averageValue: '1500m' } },
};

/** Metrics of an autoscaler, by their special property. */
export const metricLists: Readonly<Record<string, readonly object[]>> = {
  'the utilization of the CPU': [cpu],
  'the CPU as an amount': [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '1' } } },
  ],
  'the utilization of the memory': [{ type: 'Resource', resource: { name: 'memory', target: utilization } }],
  pods: [pods],
  'an object': [
    {
      type: 'Object',
      object: { describedObject, metric: { name: 'hits' }, target: { type: 'Value', value: '10k' } },
    },
  ],
  'an object, for each pod': [
    {
      type: 'Object',
      object: {
        describedObject: { kind: 'Service', name: 'web' },
        metric: { name: 'hits', selector },
        target: { type: 'AverageValue', averageValue: '3' },
      },
    },
  ],
  'something outside': [
    { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'Value', value: '30' } } },
  ],
  'an external metric, for each pod': [
    {
      type: 'External',
      external: { metric: { name: 'queue', selector }, target: { type: 'AverageValue', averageValue: '3' } },
    },
  ],
  'a container': [
    { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'app', target: utilization } },
  ],
  'many, the CPU last': [memory, pods, cpu],
  'the utilization of the CPU twice': [
    memory,
    cpu,
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 90 } } },
  ],
  'the utilization of the CPU twice, without other metrics': [
    cpu,
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 9 } } },
  ],
  'target types that do not fit their values': [
    { type: 'Resource', resource: { name: 'cpu', target: { ...utilization, type: 'Value' } } },
    { type: 'Resource', resource: { name: 'cpu', target: { ...utilization, value: '7' } } },
    {
      type: 'Pods',
      pods: {
        metric: { name: 'hits' },
        target: { type: 'Utilization', averageValue: '1', value: '2', averageUtilization: 3 },
      },
    },
    {
      type: 'Object',
      object: {
        describedObject,
        metric: { name: 'hits' },
        target: { type: 'Value', value: '10', averageValue: '3' },
      },
    },
  ],
};

export const behavior = {
  scaleUp: {
    stabilizationWindowSeconds: 30,
    selectPolicy: 'Min',
    policies: [
      { type: 'Pods', value: 2, periodSeconds: 60 },
      { type: 'Percent', value: 10, periodSeconds: 60 },
    ],
  },
  scaleDown: { selectPolicy: 'Disabled' },
};

export const status = {
  observedGeneration: 3,
  lastScaleTime: '2026-01-01T00:00:00Z',
  currentReplicas: 3,
  desiredReplicas: 4,
  currentMetrics: [
    {
      type: 'Resource',
      resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '400m' } },
    },
    { type: 'Pods', pods: { metric: { name: 'hits', selector }, current: { averageValue: '3' } } },
    {
      type: 'Object',
      object: { describedObject, metric: { name: 'hits' }, current: { value: '3', averageValue: '1' } },
    },
    { type: 'External', external: { metric: { name: 'queue' }, current: { value: '3' } } },
    {
      type: 'ContainerResource',
      containerResource: {
        name: 'cpu',
        container: 'app',
        current: { averageUtilization: 1, averageValue: '1' },
      },
    },
  ],
  conditions: [
    {
      type: 'AbleToScale',
      status: 'True',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      reason: 'ReadyForNewScale',
      message: 'it is <ready> & may scale',
    },
  ],
};

/** Status with fewer fields than a controller writes. */
export const bareStatus = {
  currentReplicas: 0,
  desiredReplicas: 1,
  currentMetrics: [
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40 } } },
    { type: 'External', external: { metric: { name: 'queue' }, current: { averageValue: '3' } } },
    { type: 'Object', object: { describedObject, metric: { name: 'hits' }, current: {} } },
    { type: 'Pods', pods: { metric: { name: 'hits' }, current: {} } },
  ],
};

export const inV2 = (spec: object = {}, more: object = {}) => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', namespace: 'default' },
  spec: { scaleTargetRef, maxReplicas: 10, ...spec },
  ...more,
});

export const inV1 = (spec: object = {}, more: object = {}) => ({
  ...inV2(spec, more),
  apiVersion: 'autoscaling/v1',
});

/** Returns the annotation in which v1 stores this field. */
export const carrier = (name: string) => `autoscaling.alpha.kubernetes.io/${name}`;
