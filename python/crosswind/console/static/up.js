// The page of `crosswind up`: a network, and the hand that moves it.

import { lines } from "./api.js";
import { Hand } from "./hand.js";
import { LiveView } from "./live.js";
import { Model } from "./model.js";
import { at, state } from "./view.js";

export async function up({ network, active, faults, hand }) {
  const model = new Model(network, active, faults);
  const live = new LiveView(model, () => changed());
  const own = new Hand(live, hand);
  const changed = () => {
    const { name } = model.condition;
    at("active").textContent = name;
    at("said").textContent = `Condition ${name} is active`;
    own.active();
  };
  live.view.show();
  changed();
  state("live", "live");
  await lines("/api/stream", (event) => live.take(event));
  state("ended", "gone");
}
