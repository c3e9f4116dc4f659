/** An action of a user on an object, which its page and the command palette offer. */
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';

export interface ObjectAction {
  readonly title: string;
  /** More words by which the palette finds the action. */
  readonly words?: string;
  readonly isDangerous?: boolean;
  /**
   * Returns whether the action makes sense for the object and the user may do it. `object` has at least its
   * metadata: an action that reads more must allow for its absence.
   */
  applies(kind: ApiKind, object: KubeObject): boolean;
  run(kind: ApiKind, object: KubeObject): void | Promise<void>;
}
