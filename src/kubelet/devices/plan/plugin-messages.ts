/**
 * Messages between the agent and device plugins; the field numbers are those of upstream's
 * deviceplugin/v1beta1 api.proto.
 */
import { eachField, type FieldReader, WireReader } from '../../../apimachinery/protobuf/reader.ts';
import type { WireWriter } from '../../../apimachinery/protobuf/writer.ts';
import { framed } from '../../../grpc/frames.ts';
import type { Device, GivenDevices } from './device.ts';

export const pluginVersion = 'v1beta1';

const service = '/v1beta1.DevicePlugin';

export const pluginMethods = {
  register: '/v1beta1.Registration/Register',
  options: `${service}/GetDevicePluginOptions`,
  devices: `${service}/ListAndWatch`,
  preferred: `${service}/GetPreferredAllocation`,
  allocate: `${service}/Allocate`,
  beforeStart: `${service}/PreStartContainer`,
} as const;

export interface PluginOptions {
  /** True when the plugin must be called before each start of a container. */
  readonly beforeStart: boolean;
  /** True when the plugin can return preferred devices. */
  readonly preferred: boolean;
}

export interface Registration {
  readonly version: string;
  /** Name of the plugin's socket. */
  readonly endpoint: string;
  readonly resource: string;
}

export const emptyMessage = framed(0, () => undefined);

/** Collects the texts of a repeated field. */
const into =
  (texts: string[]): FieldReader =>
  (reader, wire) => {
    texts.push(reader.string(wire));
  };

export function readRegistration(bytes: Uint8Array): Registration {
  let [version, endpoint, resource] = ['', '', ''];
  eachField(new WireReader(bytes), {
    1: (reader, wire) => {
      version = reader.string(wire);
    },
    2: (reader, wire) => {
      endpoint = reader.string(wire);
    },
    3: (reader, wire) => {
      resource = reader.string(wire);
    },
  });
  return { version, endpoint, resource };
}

export function readOptions(bytes: Uint8Array): PluginOptions {
  const options = { beforeStart: false, preferred: false };
  eachField(new WireReader(bytes), {
    1: (reader, wire) => {
      options.beforeStart = reader.bool(wire);
    },
    2: (reader, wire) => {
      options.preferred = reader.bool(wire);
    },
  });
  return options;
}

/** Returns the devices; of several with one id, the first. */
export function readDevices(bytes: Uint8Array): readonly Device[] {
  const devices = new Map<string, Device>();
  eachField(new WireReader(bytes), {
    1: (reader, wire) => {
      const device = readDevice(reader.within(wire));
      if (!devices.has(device.id)) devices.set(device.id, device);
    },
  });
  return [...devices.values()];
}

function readDevice(reader: WireReader): Device {
  let [id, health] = ['', ''];
  eachField(reader, {
    1: (at, wire) => {
      id = at.string(wire);
    },
    2: (at, wire) => {
      health = at.string(wire);
    },
  });
  return { id, healthy: health === 'Healthy' };
}

const idsMessage = (ids: readonly string[]) =>
  framed(64 * ids.length + 16, (writer) => {
    const start = writer.begin(1);
    for (const id of ids) writer.string(1, id);
    writer.end(start);
  });

export const allocateMessage = idsMessage;

export const beforeStartMessage = (ids: readonly string[]) =>
  framed(64 * ids.length, (writer) => {
    for (const id of ids) writer.string(1, id);
  });

/** Returns a request for preferred devices. `available` includes the ids in `must`. */
export const preferredMessage = (available: readonly string[], must: readonly string[], count: number) =>
  framed(64 * (available.length + must.length) + 32, (writer: WireWriter) => {
    const start = writer.begin(1);
    for (const id of available) writer.string(1, id);
    for (const id of must) writer.string(2, id);
    writer.varint(3, count);
    writer.end(start);
  });

/** Returns the ids for the one container that was requested. */
export function readPreferred(bytes: Uint8Array): readonly string[] {
  const ids: string[] = [];
  eachField(new WireReader(bytes), {
    1: (reader, wire) => eachField(reader.within(wire), { 1: into(ids) }),
  });
  return ids;
}

/** Returns the response's first container. */
export function readAllocated(bytes: Uint8Array): Omit<GivenDevices, 'ids' | 'nvidia'> {
  const env: Record<string, string> = {};
  const annotations: Record<string, string> = {};
  const mounts: GivenDevices['mounts'][number][] = [];
  const nodes: GivenDevices['nodes'][number][] = [];
  const cdi: string[] = [];
  let isFirst = true;
  eachField(new WireReader(bytes), {
    1: (reader, wire) => {
      const inner = reader.within(wire);
      if (!isFirst) return;
      isFirst = false;
      eachField(inner, {
        1: (at, type) => readEntry(at.within(type), env),
        2: (at, type) => {
          const { first, second, flag } = readPaths(at.within(type));
          mounts.push({ target: first, source: second, readOnly: flag === '1' });
        },
        3: (at, type) => {
          const { first, second, flag } = readPaths(at.within(type), 'text');
          nodes.push({ target: first, source: second, permissions: flag });
        },
        4: (at, type) => readEntry(at.within(type), annotations),
        5: (at, type) => eachField(at.within(type), { 1: into(cdi) }),
      });
    },
  });
  return { env, annotations, mounts, nodes, cdi };
}

/** Reads a mount or a device: both have two paths and a third field, which is a bool or a text. */
function readPaths(reader: WireReader, third: 'bool' | 'text' = 'bool') {
  const paths = { first: '', second: '', flag: '' };
  eachField(reader, {
    1: (at, wire) => {
      paths.first = at.string(wire);
    },
    2: (at, wire) => {
      paths.second = at.string(wire);
    },
    3: (at, wire) => {
      paths.flag = third === 'text' ? at.string(wire) : at.bool(wire) ? '1' : '';
    },
  });
  return paths;
}

function readEntry(reader: WireReader, entries: Record<string, string>): void {
  let [key, value] = ['', ''];
  eachField(reader, {
    1: (at, wire) => {
      key = at.string(wire);
    },
    2: (at, wire) => {
      value = at.string(wire);
    },
  });
  Object.defineProperty(entries, key, { value, enumerable: true, configurable: true, writable: true });
}
