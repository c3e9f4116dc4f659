import type { KubeObject } from '../../../../apimachinery/meta.ts';
import { checkDns1123Label } from '../../../../apimachinery/names.ts';

/** Returns warnings for a new object whose pods are named after it: a pod's name is also its host name. */
export const podNameWarnings = (object: KubeObject, old: KubeObject | undefined): string[] =>
  old ? [] : labelWarnings(object, 'Pod names and hostnames');

/** Returns the warnings of a pod itself. */
export const hostnameWarnings = (pod: KubeObject): string[] => labelWarnings(pod, "the Pod's hostname");

function labelWarnings({ metadata }: KubeObject, use: string): string[] {
  const reasons = checkDns1123Label(metadata.name);
  if (reasons.length === 0) return [];
  const why = `this is used in ${use}, which can result in surprising behavior`;
  return [`metadata.name: ${why}; a DNS label is recommended: [${reasons.join(' ')}]`];
}
