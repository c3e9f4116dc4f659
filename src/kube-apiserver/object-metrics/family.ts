/**
 * What is told of the objects of a kind, by the names of kube-state-metrics: families of samples, each a function of one object. Pure.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import type { Family, Labels, Sample } from '../../base/exposition.ts';

export interface ObjectFamily<T> extends Omit<Family, 'samples'> {
  /** None when there is nothing to tell of the object. Their labels come behind those of the kind. */
  tell(object: T): readonly Sample[];
}

export interface ObjectMetrics<T extends KubeObject = KubeObject> {
  readonly ref: ResourceRef<T>;
  /** The labels that say which object it is. All samples of the object have them. */
  labelsOf(object: T): Labels;
  readonly families: readonly ObjectFamily<T>[];
}

/** The kind of the object does not matter any more where all kinds are told. */
export const objectMetrics = <T extends KubeObject>(metrics: ObjectMetrics<T>): ObjectMetrics =>
  metrics as unknown as ObjectMetrics;

export const gauges = <T>(
  name: string,
  help: string,
  tell: (object: T) => readonly Sample[],
): ObjectFamily<T> => ({ name, help, type: 'gauge', tell });

export const counters = <T>(
  name: string,
  help: string,
  tell: (object: T) => readonly Sample[],
): ObjectFamily<T> => ({ name, help, type: 'counter', tell });

type Value = number | boolean | undefined;

const sampleOf = (value: Value): readonly Sample[] => (value === undefined ? [] : [{ value: Number(value) }]);

/** One number, 1 and 0 for yes and no; undefined is not told. */
export const gauge = <T>(name: string, help: string, numberOf: (object: T) => Value): ObjectFamily<T> =>
  gauges(name, help, (object) => sampleOf(numberOf(object)));

export const counter = <T>(name: string, help: string, numberOf: (object: T) => Value): ObjectFamily<T> =>
  counters(name, help, (object) => sampleOf(numberOf(object)));

/** What is told by labels alone: the value is 1. */
export const fact = (labels: Labels): Sample => ({ labels, value: 1 });

/** One fact; undefined is not told. */
export const info = <T>(
  name: string,
  help: string,
  labelsOf: (object: T) => Labels | undefined,
): ObjectFamily<T> =>
  gauges(name, help, (object) => {
    const labels = labelsOf(object);
    return labels ? [fact(labels)] : [];
  });

/** A sample for each state that there is, 1 for the one that holds. Nothing while none is known. */
export const states = <T>(
  name: string,
  help: string,
  label: string,
  all: readonly string[],
  stateOf: (object: T) => string | undefined,
): ObjectFamily<T> =>
  gauges(name, help, (object) => {
    const held = stateOf(object);
    return held ? all.map((state) => ({ labels: { [label]: state }, value: Number(state === held) })) : [];
  });

/** Seconds since the epoch, whole ones; undefined for what is no time. */
export function seconds(time: string | undefined): number | undefined {
  const ms = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}
