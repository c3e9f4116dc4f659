/** The kinds that are explained, and those that an explanation reads. */

import { shellWord } from '../base/shell-words.ts';
import { Words } from './command.ts';

export interface WhyKind {
  readonly kind: string;
  /** Word of the kind in `WORD/NAME`, as kubectl prints it. */
  readonly word: string;
  readonly isClusterScoped?: true;
  /** Objects are explained through any owner that exists, not only through their controller. */
  readonly isPartOfOwner?: true;
}

/**
 * Kinds by `PLURAL.GROUP`, in the order in which the objects of a cluster are explained. Rules for kinds of
 * features are in the folders of the features (src/features/why.ts).
 */
export const whyKinds = {
  nodes: { kind: 'Node', word: 'node', isClusterScoped: true },
  namespaces: { kind: 'Namespace', word: 'namespace', isClusterScoped: true },
  'ingresses.networking.k8s.io': { kind: 'Ingress', word: 'ingress' },
  services: { kind: 'Service', word: 'service' },
  'deployments.apps': { kind: 'Deployment', word: 'deployment' },
  'statefulsets.apps': { kind: 'StatefulSet', word: 'statefulset' },
  'daemonsets.apps': { kind: 'DaemonSet', word: 'daemonset' },
  'replicasets.apps': { kind: 'ReplicaSet', word: 'replicaset' },
  'cronjobs.batch': { kind: 'CronJob', word: 'cronjob' },
  'jobs.batch': { kind: 'Job', word: 'job' },
  'horizontalpodautoscalers.autoscaling': { kind: 'HorizontalPodAutoscaler', word: 'hpa' },
  'poddisruptionbudgets.policy': { kind: 'PodDisruptionBudget', word: 'pdb' },
  persistentvolumeclaims: { kind: 'PersistentVolumeClaim', word: 'pvc' },
  pods: { kind: 'Pod', word: 'pod' },
  'functions.minik8s.io': { kind: 'Function', word: 'function' },
  'triggers.minik8s.io': { kind: 'Trigger', word: 'trigger' },
  'workflows.minik8s.io': { kind: 'Workflow', word: 'workflow' },
  'workflowruns.minik8s.io': { kind: 'WorkflowRun', word: 'workflowrun', isPartOfOwner: true },
  'slurmjobs.minik8s.io': { kind: 'SlurmJob', word: 'slurmjob' },
  'dnses.minik8s.io': { kind: 'Dns', word: 'dns' },
  'ingressclasses.networking.k8s.io': { kind: 'IngressClass', word: 'ingressclass', isClusterScoped: true },
  'storageclasses.storage.k8s.io': { kind: 'StorageClass', word: 'storageclass', isClusterScoped: true },
  persistentvolumes: { kind: 'PersistentVolume', word: 'pv', isClusterScoped: true },
  configmaps: { kind: 'ConfigMap', word: 'configmap' },
  secrets: { kind: 'Secret', word: 'secret' },
  serviceaccounts: { kind: 'ServiceAccount', word: 'serviceaccount' },
  resourcequotas: { kind: 'ResourceQuota', word: 'quota' },
  events: { kind: 'Event', word: 'event' },
} as const satisfies Readonly<Record<string, WhyKind>>;

export type KindKey = keyof typeof whyKinds;

export const kindKeys = Object.keys(whyKinds) as readonly KindKey[];

export const isClusterScoped = (key: KindKey): boolean => 'isClusterScoped' in whyKinds[key];
export const isPartOfOwner = (key: KindKey): boolean => 'isPartOfOwner' in whyKinds[key];

const byKind: ReadonlyMap<string, KindKey> = new Map(kindKeys.map((key) => [whyKinds[key].kind, key]));

/** Returns the key of a kind such as `Pod`; undefined for kinds that are not explained. */
export const keyOfKind = (kind: string): KindKey | undefined => byKind.get(kind);

export interface ObjectRef {
  readonly key: KindKey;
  /** Empty for an object without a namespace. */
  readonly namespace: string;
  readonly name: string;
}

/** Returns `WORD/NAME`. */
export const nameOf = ({ key, name }: ObjectRef): string => `${whyKinds[key].word}/${name}`;

/** Returns the flag for the namespace of an object in a command; empty for objects without one. */
export const inNamespace = ({ namespace }: { readonly namespace: string }): Words =>
  new Words(namespace === '' ? '' : ` -n ${shellWord(namespace)}`);
