/** The rules of the types in pods and pod templates; fields.ts lists the fields that are acted on. */
import type { RulesByType, TypeRules } from '../../../../apimachinery/type-rules.ts';
import { conditionStatuses } from '../../../shared-rules.ts';
import { ordinaryValues, podFields } from './fields.ts';

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

/** Types that pods share with volumes of the cluster, where their rules are. */
const ofVolumes = [
  'core.v1.NFSVolumeSource',
  'core.v1.PersistentVolumeClaimSpec',
  'core.v1.VolumeResourceRequirements',
];

/** Types that only pods use; types that many kinds use, such as selectors, have their own rules. */
const ownTypes = Object.entries(podFields).filter(
  ([type]) => type.startsWith('core.v1.') && !ofVolumes.includes(type),
);

/** Rules from the table of fields. A refused field counts as acted on, too. */
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
