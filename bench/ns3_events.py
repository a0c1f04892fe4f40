"""Events per second in ns-3 from PyPI, measured in C++ like its own models.

The Python with ns-3 runs this file. Each pending event schedules itself again after its own time, as in
`events_per_second` of crates/engine/src/agenda.rs.
"""

from ns import ns

ns.cppyy.cppdef(
    """
    #include "ns3/core-module.h"
    #include <chrono>
    namespace crosswind {
    uint64_t left;
    double began;
    uint64_t counted;
    double Now() {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    void Event(uint64_t gap_ns) {
        if (left == counted) began = Now();
        if (left-- == 0) { ns3::Simulator::Stop(); return; }
        ns3::Simulator::Schedule(ns3::NanoSeconds(gap_ns), &Event, gap_ns);
    }
    double Measure(uint64_t pending, uint64_t events) {
        counted = events;
        left = events + events / 10;
        for (uint64_t number = 0; number < pending; ++number) {
            uint64_t gap_ns = 1000000 + number * 7919 % 999983;
            ns3::Simulator::Schedule(ns3::NanoSeconds(gap_ns), &Event, gap_ns);
        }
        ns3::Simulator::Run();
        double took = Now() - began;
        ns3::Simulator::Destroy();
        return events / took;
    }
    }
    """
)
for pending in (1_000, 100_000):
    rate = ns.cppyy.gbl.crosswind.Measure(pending, 2_000_000)
    print(f'{{"pending": {pending}, "events_per_s": {rate:.0f}}}')
