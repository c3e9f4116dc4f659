/** The one list of actions on several objects, in the order in which they are offered. */
import type { ApiKind } from '../../cluster/plan/discovery.ts';
import { type Place, reviewedPlaces } from '../plan/reviewed-places.ts';
import { cordonSeveral, restartSeveral, scaleSeveral, uncordonSeveral } from './changes.tsx';
import { deleteSeveral } from './delete.tsx';
import { labelSeveral } from './label.tsx';
import type { SeveralAction } from './several-action.ts';

const actions: readonly SeveralAction[] = [
  ...[scaleSeveral, restartSeveral, cordonSeveral, uncordonSeveral, labelSeveral, deleteSeveral],
];

/** Returns the actions that the user may use on at least one of the places. */
export function actionsOnSeveral(kind: ApiKind, places: readonly Place[]): readonly SeveralAction[] {
  const reviewed = reviewedPlaces(places);
  return actions.filter((action) => reviewed.some((place) => action.applies(kind, place)));
}
