/** The messages of grpc.health.v1.Health/Check, and what its answers mean for a probe. */
import { eachField, WireReader } from '../../../apimachinery/protobuf/reader.ts';
import { framed } from '../../../grpc/frames.ts';
import type { GrpcError } from '../../../grpc/status.ts';
import { failure, type Outcome, success } from './outcome.ts';

export const healthCheck = '/grpc.health.v1.Health/Check';

/** `service`: the field `service` of the request; '' for the server as a whole. */
export const healthRequest = (service: string): Buffer =>
  framed(service.length + 8, (writer) => {
    if (service !== '') writer.string(1, service);
  });

const serving = 1;
const statuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** Throws ProtobufError for bytes that are no answer. */
export function healthOutcome(answer: Uint8Array): Outcome {
  let status = 0;
  eachField(new WireReader(answer), {
    1: (reader, wire) => {
      status = reader.int32(wire);
    },
  });
  if (status === serving) return success('service healthy');
  return failure(`service unhealthy (responded with ${JSON.stringify(statuses[status] ?? String(status))})`);
}

/** `within`: the time that a probe has, as people write it. */
export function healthFailure(error: GrpcError, within: string): Outcome {
  if (error.status === 'UNIMPLEMENTED')
    return failure(
      `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${error.details}`,
    );
  if (error.status === 'DEADLINE_EXCEEDED')
    return failure(`timeout: health rpc did not complete within ${within}`);
  const code = codeOf(error.status);
  return failure(`error: health rpc probe failed: rpc error: code = ${code} desc = ${error.details}`);
}

/** As Go writes it: `NotFound`, and `OK`, which is no failure. */
const codeOf = (status: string) =>
  status === 'CANCELLED'
    ? 'Canceled'
    : status.toLowerCase().replaceAll(/(?:^|_)(.)/g, (_, letter) => letter.toUpperCase());
