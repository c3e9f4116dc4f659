/** An action on several objects of one kind, which the table of the kind offers for the selected rows. */
import type { KubeObject } from '../../../../apimachinery/meta.ts';
import type { ApiKind } from '../../cluster/plan/discovery.ts';
import type { Place } from '../plan/reviewed-places.ts';

export interface SeveralAction {
  readonly title: string;
  readonly isDangerous?: boolean;
  /** Returns whether the kind has the action and the user may use it on the object. */
  applies(kind: ApiKind, place: Place): boolean;
  /** Opens the dialog of the action. Objects have at least their metadata. */
  run(kind: ApiKind, objects: readonly KubeObject[]): Promise<void>;
}
