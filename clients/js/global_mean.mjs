#!/usr/bin/env node
// The protocol without a library, in JavaScript: onnx.GlobalAveragePool-22 in f32.
//     conformance check --backend "exec:node global_mean.mjs" --op onnx.GlobalAveragePool-22
import { readSync, writeSync } from "node:fs";

function read(size) { // Null at the end: then the run has no more questions.
  const bytes = Buffer.alloc(size);
  for (let got = 0; got < size; ) {
    const more = readSync(0, bytes, got, size - got, null);
    if (!more) return null;
    got += more;
  }
  return bytes;
}

function send(header, payload = Buffer.alloc(0)) {
  const text = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(12);
  prefix.writeUInt32LE(text.length, 0);
  prefix.writeBigUInt64LE(BigInt(payload.length), 4);
  let whole = Buffer.concat([prefix, text, payload]);
  while (whole.length) whole = whole.subarray(writeSync(1, whole));
}

const capabilities = { operators: ["onnx.GlobalAveragePool-22"], dtypes: ["f32"] };
send({ hello: { protocol: 1, byte_order: "little", name: "global_mean.mjs", version: "1.0", capabilities } });
for (let prefix; (prefix = read(12)); ) {
  const { number, op, inputs } = JSON.parse(read(prefix.readUInt32LE(0)));
  const payload = read(Number(prefix.readBigUInt64LE(4)));
  if (op !== capabilities.operators[0] || inputs[0].dtype !== "f32") {
    send({ number, ending: "unsupported", message: `no ${op} in ${inputs[0]?.dtype}` });
    continue;
  }
  if (inputs[0].shape.length < 3) {
    send({ number, ending: "raised", message: "data needs an axis beside batch and channel" });
    continue;
  }
  const [shape, at] = [inputs[0].shape, (i) => payload.readFloatLE(4 * i)];
  const planes = shape[0] * shape[1], size = shape.slice(2).reduce((a, b) => a * b, 1);
  const means = Float32Array.from({ length: planes }, (_, plane) => {
    let sum = 0;
    for (let i = 0; i < size; i++) sum += at(plane * size + i);
    return sum / size;
  });
  const output = { dtype: "f32", shape: [shape[0], shape[1], ...shape.slice(2).fill(1)] };
  send({ number, outputs: [output] }, Buffer.from(means.buffer));
}
