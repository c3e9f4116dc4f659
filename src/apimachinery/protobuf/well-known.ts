/** Kubernetes' scalars that are messages on the wire: times, quantities, and integers that may be strings. */
import { eachField, ProtobufError, type WireReader } from './reader.ts';

/** 0001-01-01, Go's zero time, and the last second of the year 9999, both in Unix seconds. */
const zeroTime = -62_135_596_800;
const lastTime = 253_402_300_799;

/**
 * Returns an RFC 3339 time with `digits` digits of a second; undefined for Go's zero time, which is an empty
 * message. Kubernetes drops the fraction of a Time (apimachinery's Time.Unmarshal).
 */
export function readTime(message: WireReader, digits: 0 | 6): string | undefined {
  if (message.done) return undefined;
  let seconds = 0;
  let nanos = 0;
  eachField(message, {
    1: (reader, wire) => {
      seconds = reader.int64(wire);
    },
    2: (reader, wire) => {
      nanos = reader.int32(wire);
    },
  });
  if (seconds === zeroTime) return undefined;
  if (seconds < zeroTime || seconds > lastTime || nanos < 0 || nanos >= 1e9)
    throw new ProtobufError('the time is not between the years 1 and 9999');
  const text = new Date(seconds * 1000).toISOString().slice(0, 19);
  return digits === 0 ? `${text}Z` : `${text}.${String(Math.floor(nanos / 1000)).padStart(digits, '0')}Z`;
}

/** Returns the text unchanged; an empty message is zero. */
export function readQuantity(message: WireReader): string {
  let text = '';
  eachField(message, {
    1: (reader, wire) => {
      text = reader.string(wire);
    },
  });
  return text === '' ? '0' : text;
}

export function readIntOrString(message: WireReader): number | string {
  let isString = false;
  let number = 0;
  let text = '';
  eachField(message, {
    1: (reader, wire) => {
      isString = reader.bool(wire);
    },
    2: (reader, wire) => {
      number = reader.int32(wire);
    },
    3: (reader, wire) => {
      text = reader.string(wire);
    },
  });
  return isString ? text : number;
}
