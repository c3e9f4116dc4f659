/**
 * Metrics of the objects of a kind, by the names of kube-state-metrics: families of samples, each a function
 * of one object. Pure.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import type { Family, Labels, Sample } from '../../base/metrics/exposition.ts';

export interface ObjectFamily<T> extends Omit<Family, 'samples'> {
  /** Returns the samples of an object; empty if there are none. Their labels come after those of the kind. */
  samplesOf(object: T): readonly Sample[];
}

export interface ObjectMetrics<T extends KubeObject = KubeObject> {
  readonly ref: ResourceRef<T>;
  /** Returns the labels that identify the object. All samples of the object have them. */
  labelsOf(object: T): Labels;
  readonly families: readonly ObjectFamily<T>[];
}

/** Erases the kind of the object, so that the metrics of all kinds can be listed together. */
export const objectMetrics = <T extends KubeObject>(metrics: ObjectMetrics<T>): ObjectMetrics =>
  metrics as unknown as ObjectMetrics;

export const gauges = <T>(
  name: string,
  help: string,
  samplesOf: (object: T) => readonly Sample[],
): ObjectFamily<T> => ({ name, help, type: 'gauge', samplesOf });

export const counters = <T>(
  name: string,
  help: string,
  samplesOf: (object: T) => readonly Sample[],
): ObjectFamily<T> => ({ name, help, type: 'counter', samplesOf });

type Value = number | boolean | undefined;

const sampleOf = (value: Value): readonly Sample[] => (value === undefined ? [] : [{ value: Number(value) }]);

/** Family with one number, 1 and 0 for booleans; undefined means no sample. */
export const gauge = <T>(name: string, help: string, numberOf: (object: T) => Value): ObjectFamily<T> =>
  gauges(name, help, (object) => sampleOf(numberOf(object)));

export const counter = <T>(name: string, help: string, numberOf: (object: T) => Value): ObjectFamily<T> =>
  counters(name, help, (object) => sampleOf(numberOf(object)));

/** Returns a sample whose information is in its labels: the value is 1. */
export const fact = (labels: Labels): Sample => ({ labels, value: 1 });

/** Family with one fact; undefined means no sample. */
export const info = <T>(
  name: string,
  help: string,
  labelsOf: (object: T) => Labels | undefined,
): ObjectFamily<T> =>
  gauges(name, help, (object) => {
    const labels = labelsOf(object);
    return labels ? [fact(labels)] : [];
  });

/**
 * Family with a sample for each possible state, with the value 1 for the current one. No samples while the
 * state is unknown.
 */
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

/** Returns whole seconds since the epoch; undefined for a text that is no time. */
export function seconds(time: string | undefined): number | undefined {
  const ms = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}
