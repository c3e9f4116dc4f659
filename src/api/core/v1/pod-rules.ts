/** The rules of the types that pods and templates of pods are made of; which fields are acted on is in pod-fields.ts. */
import type { RulesByType, TypeRules } from '../../../apimachinery/type-rules.ts';
import { conditionStatuses } from '../../shared-rules.ts';
import { ordinaryValues, podFields } from './pod-fields.ts';

const constants: Readonly<Record<string, TypeRules>> = {
  'core.v1.PodSpec': {
    defaults: {
      schedulerName: 'default-scheduler',
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
    },
    choices: { restartPolicy: ['Always', 'OnFailure', 'Never'] },
  },
  'core.v1.Container': {
    defaults: {
      image: '',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    },
  },
  'core.v1.EphemeralContainer': {
    defaults: {
      image: '',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    },
  },
  'core.v1.ContainerPort': { defaults: { protocol: 'TCP' } },
  'core.v1.ConfigMapEnvSource': { requires: 'name' },
  'core.v1.ConfigMapKeySelector': { requires: 'name' },
  'core.v1.SecretEnvSource': { requires: 'name' },
  'core.v1.SecretKeySelector': { requires: 'name' },
  'core.v1.PersistentVolumeClaimVolumeSource': { defaults: { claimName: '' } },
  'core.v1.VolumeDevice': { defaults: { devicePath: '', name: '' } },
  'core.v1.HostPathVolumeSource': { defaults: { type: '' } },
  'core.v1.ObjectFieldSelector': { defaults: { apiVersion: 'v1' } },
  'core.v1.Toleration': { choices: { operator: ['Exists', 'Equal'] } },
};

/** What volumes of pods have in common with those of the cluster stands there. */
const ofVolumes = [
  'core.v1.NFSVolumeSource',
  'core.v1.PersistentVolumeClaimSpec',
  'core.v1.VolumeResourceRequirements',
];

/** Those that many kinds have, such as selectors, have rules of their own. */
const ownTypes = Object.entries(podFields).filter(
  ([type]) => type.startsWith('core.v1.') && !ofVolumes.includes(type),
);

/** A field that is refused has an effect, too. */
const fieldRules: RulesByType = Object.fromEntries(
  ownTypes.map(([type, { honoured, refused }]) => {
    const ordinary = Object.entries(ordinaryValues)
      .map(
        ([path, values]) =>
          [path.slice(0, path.lastIndexOf('.')), path.slice(path.lastIndexOf('.') + 1), values] as const,
      )
      .filter(([owner]) => owner === type)
      .map(([, field, values]) => [field, values] as const);
    const own = constants[type] ?? {};
    return [
      type,
      {
        ...own,
        acts: [honoured, refused].filter(Boolean).join(' '),
        quiet: { ...Object.fromEntries(ordinary), ...own.quiet },
      },
    ];
  }),
);

export const podRules: RulesByType = {
  ...fieldRules,
  'core.v1.Pod': { requires: 'spec' },
  'core.v1.PodStatus': {},
  'core.v1.PodCondition': { choices: { status: conditionStatuses } },
  'core.v1.PodIP': {},
  'core.v1.HostIP': {},
  'core.v1.ContainerStatus': {},
  'core.v1.ContainerState': {},
  'core.v1.ContainerStateRunning': {},
  'core.v1.ContainerStateTerminated': {},
  'core.v1.ContainerStateWaiting': {},
  'core.v1.PodTemplateSpec': { requires: 'spec', defaults: { metadata: {} } },
};
