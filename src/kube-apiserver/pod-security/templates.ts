/** Finds the pod template of an object. */
import type { CronJob } from '../../api/batch/v1/types.gen.ts';
import type { PodTemplateSpec } from '../../api/core/v1/types.gen.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import type { PodLike } from './check.ts';

type FindTemplate = (object: KubeObject) => PodTemplateSpec | undefined;

const ofSpec: FindTemplate = (object) =>
  (object as { spec?: { template?: PodTemplateSpec } } & KubeObject).spec?.template;

/** Template lookups by group and plural. */
const templates = new Map<string, FindTemplate>([
  ['/podtemplates', (object) => (object as { template?: PodTemplateSpec } & KubeObject).template],
  ['/replicationcontrollers', ofSpec],
  ['apps/replicasets', ofSpec],
  ['apps/deployments', ofSpec],
  ['apps/statefulsets', ofSpec],
  ['apps/daemonsets', ofSpec],
  ['batch/jobs', ofSpec],
  ['batch/cronjobs', (object) => (object as CronJob).spec.jobTemplate.spec.template],
]);

type Kind = Pick<ResourceRef, 'group' | 'plural'>;

export const hasTemplate = ({ group, plural }: Kind): boolean => templates.has(`${group}/${plural}`);

/** Returns undefined for an object without a template. */
export const templateOf = ({ group, plural }: Kind, object: KubeObject): PodLike | undefined =>
  templates.get(`${group}/${plural}`)?.(object);
