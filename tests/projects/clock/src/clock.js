/** Minutes since midnight of a text such as "10:30". */
export function minutes(text) {
  const [hours, rest] = text.split(":").map(Number);
  if (!Number.isFinite(rest)) throw new RangeError(`no time: ${text}`);
  return hours * 60 + rest;
}
