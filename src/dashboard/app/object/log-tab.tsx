/** The logs of a pod, or of the pods of a workload. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { podSelectorOf } from '../../../views/pods.ts';
import { LogView } from '../pages/logs/log-view.tsx';
import type { TabProps } from './tab.ts';

export function LogTab({ kind, object }: TabProps) {
  const { name, namespace = '' } = object.metadata;
  const isPod = kind.key === 'pods';
  const labels = isPod ? '' : podSelectorOf(object as KubeJson);
  return <LogView choice={{ namespace, pod: isPod ? name : '', labels, container: '' }} />;
}

type KubeJson = TabProps['object'] & JsonObject;
