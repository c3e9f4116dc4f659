/** Places of objects in which the rights of the user are asked for. Pure. */

/** The place of an object; without a name, any object of the namespace. */
export interface Place {
  readonly namespace?: string;
  readonly name?: string;
}

/** Maximum number of namespaces whose rules are read, with a request for each. */
const maxNamespaces = 20;

export const namespacesOf = (places: readonly Place[]): readonly string[] => [
  ...new Set(places.flatMap(({ namespace }) => (namespace ? [namespace] : []))),
];

/**
 * Returns the places, in their order; without their namespaces if these are too many, so that only rights in
 * all namespaces count.
 */
export function reviewedPlaces(places: readonly Place[]): readonly Place[] {
  if (namespacesOf(places).length <= maxNamespaces) return places;
  return places.map(({ name }) => (name === undefined ? {} : { name }));
}
