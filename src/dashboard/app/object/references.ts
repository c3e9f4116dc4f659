/** Kinds of objects that other objects refer to. */
import { kinds } from '../cluster/kinds.ts';

/** Returns the key of the kind of a reference; the kind itself if the server does not serve it. */
export function keyOfReference({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string;
  readonly kind: string;
}): string {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  return kinds.value.find((each) => each.kind === kind && each.group === group)?.key ?? kind;
}
