import type { KubeObject } from '../../../apimachinery/meta.ts';
import { checkDns1123Label } from '../../../apimachinery/names.ts';

/** Of a new object whose pods are named after it: a pod's name is the name of its host, too. */
export function podNameWarnings({ metadata }: KubeObject, old: KubeObject | undefined): string[] {
  const reasons = old ? [] : checkDns1123Label(metadata.name);
  if (reasons.length === 0) return [];
  const why = 'this is used in Pod names and hostnames, which can result in surprising behavior';
  return [`metadata.name: ${why}; a DNS label is recommended: [${reasons.join(' ')}]`];
}
