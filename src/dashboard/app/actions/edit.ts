import { may } from '../cluster/access.ts';
import { objectHref } from '../shell/plan/addresses.ts';
import { navigate } from '../shell/router.ts';
import type { ObjectAction } from './action.ts';

export const editAction: ObjectAction = {
  title: 'Edit',
  words: 'yaml change',
  applies: (kind, { metadata }) =>
    kind.verbs.includes('update') && may('update', kind, metadata.namespace ?? '', { name: metadata.name }),
  run: (kind, { metadata }) =>
    navigate(objectHref(kind.key, metadata.namespace ?? '', metadata.name, 'yaml')),
};
