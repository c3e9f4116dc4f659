/** Types that the objects of many kinds contain. */

/** A requirement on labels in a selector (meta.k8s.io/v1 LabelSelector). */
export interface LabelSelector {
  matchLabels?: Record<string, string> | undefined;
  matchExpressions?:
    | {
        key: string;
        operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
        values?: string[] | undefined;
      }[]
    | undefined;
}

/** A condition with the fields that conditions of any kind have. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string | undefined;
  message?: string | undefined;
  lastTransitionTime?: string | undefined;
  lastUpdateTime?: string | undefined;
  lastProbeTime?: string | undefined;
  lastHeartbeatTime?: string | undefined;
  observedGeneration?: number | undefined;
}
