/** Records v1 Events about objects. Repeats of one event become a count. Never throws and never waits. */
import type { KubeObject } from '../apimachinery/meta.ts';

export interface EventRecorder {
  event(about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void;
}
